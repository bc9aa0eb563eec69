/**
 * Engine and workers inside this program; other processes reach them only if it opens a port.
 *
 * Calls of the program itself never use a socket, even if there is one.
 */
import { connect } from '#client';
import {
  assembleCell,
  availableWorkers,
  canonicalWorkspace,
  defaultEntries,
  startWorkcell,
  toEntries,
} from '#assembly';
import { ConfigError, readCatalogue, silentLog, type CatalogueEntry, type Log } from '#contract';
import { isLoopback } from '#engine';
import type { TypedBus, WorkerChoice } from './function-types.ts';

export interface CreateWorkcellOptions {
  /** The directory that the workers are confined to; it has to exist. */
  workspace: string;
  /** Which workers run; all of them with their shipped configuration when left out. */
  workers?: readonly WorkerChoice[];
  /** Globs of files that no file function reaches, instead of the shipped list; an empty list protects nothing. */
  protect?: readonly string[];
  /** Serves HTTP, MCP, WebSocket and the console on this port, 0 for a free one. Nothing listens when left out. */
  port?: number;
  /** Address to listen on, default 127.0.0.1. */
  host?: string;
  /** Bearer token that remote callers must send; required beyond loopback. */
  token?: string;
  /** Additional tokens, by the names that lists and logs show for their callers. */
  tokens?: Readonly<Record<string, string>>;
  log?: Log;
}

export interface Workcell extends TypedBus, AsyncDisposable {
  /** The URL for other processes, e.g. `ws://127.0.0.1:49134`; only with a port. */
  readonly url?: string;
  /** Every function on the bus, also those of remote workers. */
  functions(): Promise<CatalogueEntry[]>;
  /** Stops the workers with everything they run, and closes the port. */
  close(): Promise<void>;
}

/**
 * Starts an engine and its workers inside this program. Throws `ConfigError` for a wrong option, before anything runs.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * await cell.call('coder::create-file', { files: [{ path: 'notes.md', content: 'one\n' }] });
 * const { content } = await cell.call('coder::read-file', { path: 'notes.md' });
 * console.log(JSON.stringify(content)); // "one\n"
 * await cell.close();
 * ```
 */
export async function createWorkcell(options: CreateWorkcellOptions): Promise<Workcell> {
  const { log = silentLog } = options;
  const entries = readEntries(options);
  const listening = readListening(options);
  const cell = await (listening ? startWorkcell({ entries, log, ...listening }) : assembleCell({ entries, log }));
  const bus = await connect(cell.engine.dialer(), { name: 'workcell:program', isolation: 'in-process', log });
  const close = async () => {
    bus.close();
    await cell.close();
  };
  return {
    url: cell.url,
    call: bus.call.bind(bus) as TypedBus['call'],
    stream: bus.stream.bind(bus) as TypedBus['stream'],
    createChannel: bus.createChannel.bind(bus),
    openReader: bus.openReader,
    openWriter: bus.openWriter,
    functions: () => readCatalogue(bus),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function readEntries({ workspace, workers, protect }: CreateWorkcellOptions) {
  const canonical = canonicalWorkspace(workspace, 'workspace:');
  const cell = protect && { protect: [...protect] };
  if (workers === undefined) return defaultEntries(availableWorkers, canonical, cell);
  return toEntries(workers, availableWorkers, { workspace: canonical, cell });
}

function readListening({ port, host = '127.0.0.1', token, tokens = {} }: CreateWorkcellOptions) {
  if (port === undefined) return undefined;
  if (!isLoopback(host) && !token && Object.keys(tokens).length === 0) {
    throw new ConfigError(`host: ${host} is reachable from other machines, so a token is needed`);
  }
  return { port, host, token, tokens };
}
