/**
 * Engine and workers inside this program; other processes reach them only if it opens a port.
 *
 * Calls of the program itself never use a socket, even if there is one.
 */
import { z } from 'zod';

import { connect } from '#client';
import {
  assembleCell,
  availableWorkers,
  canonicalWorkspace,
  defaultEntries,
  entryOf,
  firstTwice,
  startWorkcell,
  toEntries,
  tryTelemetry,
  type WorkerEntry,
} from '#assembly';
import {
  type AnyWorker,
  ConfigError,
  parseConfig,
  readCatalogue,
  silentLog,
  type CatalogueEntry,
  type Log,
} from '#contract';
import { isLoopback } from '#engine';
import type { FunctionsOf, FunctionTypes, OwnWorker, TypedBus, WorkerChoice } from './function-types.ts';

export interface CreateWorkcellOptions<Own extends readonly AnyWorker[] = readonly AnyWorker[]> {
  /** The directory that the workers are confined to; it has to exist. */
  workspace: string;
  /** Which workers run; all of them with their shipped configuration when left out. */
  workers?: readonly WorkerChoice[];
  /** Workers of the program itself, beside those; `call` knows their functions by their types. */
  ownWorkers?: { readonly [At in keyof Own]: OwnWorker<Own[At]> };
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

/**
 * Checks the options at run time, for programs in plain JavaScript: a mistyped key is an error that names the nearest
 * one.
 */
const OptionsSchema: z.ZodType = z.strictObject({
  workspace: z.string(),
  workers: z.array(z.strictObject({ name: z.string(), config: z.unknown().optional() })).optional(),
  ownWorkers: z.array(z.strictObject({ def: z.looseObject({}), config: z.unknown().optional() })).optional(),
  protect: z.array(z.string()).optional(),
  port: z.int().optional(),
  host: z.string().optional(),
  token: z.string().optional(),
  tokens: z.record(z.string(), z.string()).optional(),
  log: z.looseObject({}).optional(),
} satisfies Record<keyof CreateWorkcellOptions, z.ZodType>);

export interface Workcell<Functions = FunctionTypes> extends TypedBus<Functions>, AsyncDisposable {
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
export async function createWorkcell<const Own extends readonly AnyWorker[] = []>(
  options: CreateWorkcellOptions<Own>,
): Promise<Workcell<FunctionTypes & FunctionsOf<Own[number]>>> {
  type Result = TypedBus<FunctionTypes & FunctionsOf<Own[number]>>;
  parseConfig(OptionsSchema, options, 'createWorkcell');
  const { log = silentLog } = options;
  const entries = readEntries(options);
  const listening = readListening(options);
  const parts = { entries, log, telemetry: await tryTelemetry(log) };
  const cell = await (listening ? startWorkcell({ ...parts, ...listening }) : assembleCell(parts));
  const bus = await connect(cell.engine.dialer(), { name: 'workcell:program', isolation: 'in-process', log });
  const close = async () => {
    bus.close();
    await cell.close();
  };
  return {
    url: cell.url,
    call: bus.call.bind(bus) as Result['call'],
    stream: bus.stream.bind(bus) as Result['stream'],
    createChannel: bus.createChannel.bind(bus),
    openReader: bus.openReader,
    openWriter: bus.openWriter,
    functions: () => readCatalogue(bus),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function readEntries({ workspace, workers, ownWorkers = [], protect }: CreateWorkcellOptions): WorkerEntry[] {
  const canonical = canonicalWorkspace(workspace, 'workspace:');
  const surroundings = { workspace: canonical, cell: protect && { protect: [...protect] } };
  const shipped =
    workers === undefined
      ? defaultEntries(availableWorkers, canonical, surroundings.cell)
      : toEntries(workers, availableWorkers, surroundings);
  const own = ownWorkers.map(({ def, config }) =>
    entryOf(def, config ?? def.shippedBlock, surroundings, `ownWorkers.${def.name}`),
  );
  const entries = [...shipped, ...own];
  const twice = firstTwice(entries.map(({ def }) => def.name));
  if (twice !== undefined) throw new ConfigError(`ownWorkers: a worker ${twice} is there already`);
  return entries;
}

function readListening({ port, host = '127.0.0.1', token, tokens = {} }: CreateWorkcellOptions) {
  if (port === undefined) return undefined;
  if (!isLoopback(host) && !token && Object.keys(tokens).length === 0) {
    throw new ConfigError(`host: ${host} is reachable from other machines, so a token is needed`);
  }
  return { port, host, token, tokens };
}
