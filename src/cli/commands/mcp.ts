/**
 * workcell mcp: serves the functions as MCP tools on standard input and output.
 *
 * Without `--url` it runs an engine and its workers inside this process; nothing listens on a port. They are loaded
 * while the client gets its list of tools.
 */
import { canonicalWorkspace } from '#assembly/options';
import { makePrincipal } from '#contract';
import {
  parseProfiles,
  serveMcpOnStdio,
  UnknownProfile,
  type EarlyList,
  type ShippedTools,
  type ToolProfile,
} from '#surfaces/mcp';
import { version } from '#version';
import { cellOptions } from '../cell-options.ts';
import { UsageError, valueOption, type Command, type CommandInput } from '../command.ts';
import { addressOptions, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { explainWaiting, shippedToolsFor } from '../mcp/startup-checks.ts';
import { presetOptions } from '../preset-options.ts';
import { terminalLog } from '../terminal-log.ts';
import { untilSignal } from '../until-signal.ts';

/** The size limit of a message on the bus. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
/** Delay for clients that know the tools and do not request the list. */
const LOAD_AFTER_MS = 500;

export const mcp: Command = {
  name: 'mcp',
  summary: 'Offer the functions as MCP tools on standard input and output.',
  details:
    'An MCP client starts this itself: give it the command "workcell" with the arguments "mcp --workspace DIR".\n' +
    'A running engine offers the same at http://127.0.0.1:49134/mcp.',
  options: {
    workspace: valueOption('DIR', 'Directory the workers are limited to, default the current one.'),
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
    change: valueOption('NAME', 'Work in this change: a new one for "new". The workspace changes only by a commit.'),
    namespace: valueOption('NAME', 'Namespace whose functions are offered.', { short: 'n' }),
    ...addressOptions,
    url: valueOption('URL', 'Use this running engine instead of one of its own.'),
  },
  examples: [
    'workcell mcp --workspace ~/project',
    'workcell mcp --workspace ~/project --profile look',
    'workcell mcp --workspace ~/project --app reviewer.yaml',
    'workcell mcp --workspace ~/project --change new',
    'workcell mcp --url ws://127.0.0.1:49134 --tools coder --read-only',
  ],
  maxWords: 0,

  async run({ options }) {
    const log = terminalLog('warn');
    const stopped = untilSignal();
    const profile = profileOf(options);
    const workspace = workspaceOf(options);
    const tools = shippedToolsFor(options, profile);
    const { early, asked } = tools ? earlyList(tools) : NOT_EARLY;
    const opening = asked
      .then(() => import('../mcp/open-cell.ts'))
      .then(({ openMcpCell }) => openMcpCell(options, { workspace, profile, log }));
    // Waits for the configuration that the operator chose: it may be invalid, and then no client should get an answer.
    const { principal, change } = early ? LOCAL : await opening;
    explainWaiting();
    const serving = serveMcpOnStdio(
      opening.then(({ bus }) => bus),
      { version, principal, profile, early, change, maxMessageBytes: MAX_MESSAGE_BYTES, log },
    );
    try {
      await Promise.race([serving.ended, stopped, opening.then(() => serving.ended)]);
    } finally {
      await serving.close();
      early?.onAsked();
      await (await opening).close();
    }
    // Exits at once, like `workcell start`: the exporters of telemetry may keep the process.
    if ((await opening).isTraced) process.exit(EXIT.ok);
    return EXIT.ok;
  },
};

const LOCAL = { principal: makePrincipal('local', 'stdio'), change: undefined };
const NOT_EARLY = { early: undefined, asked: Promise.resolve() };

/** Loading the workers takes the only thread for a while, so it begins when the client has its list, or soon. */
function earlyList(tools: ShippedTools): { early: EarlyList; asked: Promise<void> } {
  let onAsked!: () => void;
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  setTimeout(onAsked, LOAD_AFTER_MS).unref();
  return { early: { tools, onAsked }, asked };
}

/** Undefined when the command uses an engine that already runs. */
function workspaceOf(options: CommandInput['options']): string | undefined {
  if (options.url !== undefined) {
    if (options.app === undefined) return undefined;
    throw new UsageError('--app runs an engine of its own; with --url give --namespace');
  }
  // An app decides itself whether it changes files.
  const isReadOnly = options['read-only'] === true || options.app !== undefined;
  return canonicalWorkspace(text(options.workspace) ?? '.', '--workspace', { isReadOnly });
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
