/** Checks and messages of `workcell mcp` for the person that types or configures it. */
import { findConfigFile, PRESETS } from '#assembly/options';
import { CallError, ConfigError, didYouMean, readCatalogue, type Bus, type Log } from '#contract';
import { workerSegment } from '#protocol';
import { shippedTools, toTools, type ShippedTools, type ToolProfile } from '#surfaces/mcp';
import type { CommandInput } from '../command.ts';
import { text } from '../engine-address.ts';
import { namedPreset } from '../preset-options.ts';

/**
 * Refuses a word of `--tools` that names nothing.
 *
 * On an engine that others connect to, the worker may register later: there the word is only logged.
 */
export async function requireTools(
  bus: Bus,
  { only, namespace }: ToolProfile,
  { mayComeLater, log }: { mayComeLater: boolean; log: Log },
): Promise<void> {
  if (only === undefined) return;
  const tools = toTools(await readCatalogue(bus, { namespace }), { namespace });
  const known = new Set([...tools].flatMap(([name, { entry }]) => [workerSegment(entry.id), entry.id, name]));
  const unknown = only.find((word) => !known.has(word));
  if (only.length > 0 && unknown === undefined) return;

  const workers = [...new Set([...tools.values()].map(({ entry }) => workerSegment(entry.id)))];
  const problem =
    unknown === undefined ? 'names nothing' : `has "${unknown}", which names nothing${didYouMean(unknown, known)}`;
  const message = `--tools ${problem}; give workers (${workers.join(', ')}), function ids or tool names`;
  if (!mayComeLater) throw new ConfigError(message, { code: 'unknown_tool' });
  log.warn(`${message}. A worker that connects later may bring it`);
}

/** Presets in which every function is offered. */
const FULL_PRESETS: readonly string[] = PRESETS.filter((name) => name !== 'look' && name !== 'review');

/** The tools that the build lists, unless an option of the operator could change them. */
export function shippedToolsFor(options: CommandInput['options'], profile: ToolProfile): ShippedTools | undefined {
  const { only, isReadOnly, isStructured, namespace, profiles = ['coding'] } = profile;
  const isChosen = only !== undefined || isReadOnly || isStructured || namespace !== undefined;
  const file = findConfigFile(text(options.config));
  const { url, app, change } = options;
  if (isChosen || [file, url, app, change].some((given) => given !== undefined)) return undefined;

  const preset = namedPreset(options, file);
  const isWhole = preset === undefined || FULL_PRESETS.includes(preset);
  return isWhole && profiles.every((name) => name === 'coding') ? shippedTools() : undefined;
}

/** Printed because `workcell mcp` typed by hand would otherwise seem to hang. */
export function explainWaiting(): void {
  if (!process.stdin.isTTY) return;
  process.stderr.write(
    'workcell mcp is waiting for an MCP client: JSON-RPC messages, a line each, on standard input.\n' +
      'A client starts it itself, with the command "workcell" and these arguments: docs/guides/mcp-clients.md\n' +
      'To call functions by hand: workcell start, then workcell call. Ctrl+C ends this.\n',
  );
}

/** Begins or finds the change of `--change`, and reports its name; standard output belongs to the protocol. */
export async function boundChangeOf(bus: Bus, asked: string | undefined): Promise<string | undefined> {
  if (asked === undefined) return undefined;
  const name = asked === 'new' ? await begun(bus) : await found(bus, asked);
  process.stderr.write(`change ${name}: files and commands stay in it until it is committed (workcell change)\n`);
  return name;
}

async function begun(bus: Bus): Promise<string> {
  const { change } = (await answered(bus, 'change::begin', { note: 'workcell mcp' })) as { change: string };
  return change;
}

async function found(bus: Bus, asked: string): Promise<string> {
  const { changes } = (await answered(bus, 'change::list', {})) as { changes: { change: string }[] };
  const names = changes.map(({ change }) => change);
  if (names.includes(asked)) return asked;
  throw new ConfigError(`--change: there is no change ${asked}${didYouMean(asked, names)}; "new" begins one`);
}

async function answered(bus: Bus, functionId: string, request: object): Promise<unknown> {
  try {
    return await bus.call(functionId, request);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new ConfigError(`--change: ${error.message}`, { cause: error });
  }
}
