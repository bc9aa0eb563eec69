/**
 * workcell mcp: serves the functions as MCP tools on standard input and output.
 *
 * Without `--url` it runs an engine and its workers inside this process; nothing listens on a port.
 */
import { resolve } from 'node:path';

import {
  type App,
  assembleCell,
  availableWorkers,
  canonicalWorkspace,
  findConfigFile,
  parseEntries,
  presetEntries,
  readApps,
  readConfigFile,
  withApps,
  type WorkerEntry,
} from '#assembly';
import { connect, type Connection } from '#client';
import { parseProfiles, serveMcpOnStdio, UnknownProfile, type ToolProfile } from '#surfaces/mcp';
import { makePrincipal, type Log } from '#contract';
import { version } from '#version';
import { cellOptions, parseCellOptions } from '../cell-options.ts';
import { UsageError, valueOption, type Command, type CommandInput } from '../command.ts';
import { addressOptions, engineToken, engineUrl, explainUnreachable, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { explainWaiting, requireTools } from '../mcp-seat.ts';
import { parsePreset, presetOptions } from '../preset-options.ts';
import { terminalLog } from '../terminal-log.ts';
import { untilSignal } from '../until-signal.ts';

/** The size limit of a message on the bus. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;

export const mcp: Command = {
  name: 'mcp',
  summary: 'Offer the functions as MCP tools on standard input and output.',
  details:
    'An MCP client starts this itself: give it the command "workcell" with the arguments "mcp --workspace DIR".\n' +
    'A running engine offers the same at http://127.0.0.1:49134/mcp.',
  options: {
    workspace: valueOption('DIR', 'Directory the workers are fenced into, default the current one.'),
    config: valueOption('FILE', 'Configuration file, as for workcell start.', { short: 'c' }),
    app: valueOption('FILE', 'Only the modules of this app, under its constraints.'),
    ...presetOptions,
    ...cellOptions,
    profile: valueOption(
      'LIST',
      'Which tools are listed: coding (default), look, all, coder, shell, filesystem, sandbox; several with commas.',
    ),
    tools: valueOption('LIST', 'Offer only these, separated by commas: workers, function ids or tool names.'),
    'read-only': { type: 'boolean', description: 'Offer only functions that change nothing and run nothing.' },
    structured: {
      type: 'boolean',
      description: 'Also return structured content by an output schema, for programs. Many clients then hide the text.',
    },
    namespace: valueOption('NAME', 'Namespace whose functions are offered.', { short: 'n' }),
    ...addressOptions,
    url: valueOption('URL', 'Use this running engine instead of one of its own.'),
  },
  examples: [
    'workcell mcp --workspace ~/project',
    'workcell mcp --workspace ~/project --profile look',
    'workcell mcp --workspace ~/project --app reviewer.yaml',
    'workcell mcp --url ws://127.0.0.1:49134 --tools coder --read-only',
  ],
  maxWords: 0,

  async run({ options }) {
    const log = terminalLog('warn');
    const stopped = untilSignal();
    const profile = profileOf(options);
    const app = readApp(options);
    const { bus, close } =
      text(options.url) === undefined ? await embedded(options, app, log) : await remote(options, log);
    try {
      await requireTools(bus, profileOf(options), { mayComeLater: text(options.url) !== undefined, log });
      explainWaiting();
      const serving = serveMcpOnStdio(bus, {
        version,
        principal: app ? makePrincipal('app', app.name) : makePrincipal('local', 'stdio'),
        profile,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        log,
      });
      await Promise.race([serving.ended, stopped]);
      await serving.close();
    } finally {
      await close();
    }
    return EXIT.ok;
  },
};

interface Reached {
  bus: Connection;
  close: () => Promise<void>;
}

async function embedded(options: CommandInput['options'], app: App | undefined, log: Log): Promise<Reached> {
  const entries = app ? withApps([], [app]) : await readEntries(options);
  const cell = await assembleCell({ entries, log });
  const bus = await connect(cell.engine.dialer(), { name: 'workcell:mcp', isolation: 'in-process', log });
  return { bus, close: () => cell.close() };
}

function readApp(options: CommandInput['options']): App | undefined {
  const file = text(options.app);
  if (file === undefined) return undefined;
  if (options.url !== undefined) throw new UsageError('--app runs an engine of its own; with --url give --namespace');
  const surroundings = { workspace: workspaceOf(options), cell: parseCellOptions(options) };
  return readApps([resolve(file)], { available: availableWorkers, ...surroundings })[0];
}

function workspaceOf(options: CommandInput['options']): string {
  // An app decides itself whether it changes files.
  const isReadOnly = options['read-only'] === true || options.app !== undefined;
  return canonicalWorkspace(text(options.workspace) ?? '.', '--workspace', { isReadOnly });
}

async function readEntries(options: CommandInput['options']): Promise<WorkerEntry[]> {
  const workspace = workspaceOf(options);
  const cell = parseCellOptions(options);
  const file = findConfigFile(text(options.config));
  const preset = await parsePreset(options, { file, workspace });
  if (file === undefined) {
    // Standard output belongs to the protocol.
    if (!preset!.isShipped) process.stderr.write(`preset ${preset!.name}: ${preset!.holds}\n`);
    return presetEntries(preset!, availableWorkers, { workspace, cell });
  }
  const named = text(options.workspace) && workspace;
  return parseEntries(readConfigFile(file), availableWorkers, { workspace: named, ...(cell && { cell }) });
}

async function remote(options: CommandInput['options'], log: Log): Promise<Reached> {
  const bus = await connect(engineUrl(options), { name: 'workcell:mcp', token: engineToken(options), log }).catch(
    explainUnreachable,
  );
  return { bus, close: async () => bus.close() };
}

function profileOf(options: CommandInput['options']): ToolProfile {
  const only = text(options.tools)
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return {
    profiles: profilesOf(options),
    only,
    isReadOnly: options['read-only'] === true,
    isStructured: options.structured === true,
    namespace: text(options.namespace),
  };
}

function profilesOf(options: CommandInput['options']): ToolProfile['profiles'] {
  const given = text(options.profile);
  try {
    return given === undefined ? undefined : parseProfiles(given);
  } catch (error) {
    throw error instanceof UnknownProfile ? new UsageError(`--profile: ${error.message}`) : error;
  }
}
