/** The shell worker: configuration, failures, the policy, and the owner of every process it starts. */
import { ConfigError, defineWorker, gauge, type CellConfig, type Log } from '#contract';
import { Fence } from '#fence';
import {
  Children,
  HostError,
  inViewOf,
  isListening,
  openAbsoluteJail,
  RegexThreads,
  withinLayer,
  type Jail,
  type OpenLayer,
} from '#host';
import { Attachments, Jobs, type JobContext } from '#job-functions';
import { defaultCwd } from './child-cwd.ts';
import { baseEnvironment, type Environment } from './child-env.ts';
import { configSchema, type ShellConfig } from './config.ts';
import { errors, refuse, spell, translate } from './errors.ts';
import { openFiles, type ShellFiles } from './file-context.ts';
import { CommandPolicy } from './policy/command-policy.ts';

/** Most commands in the foreground at once, so that no flood of calls can exhaust processes, pipes and memory. */
const MAX_FOREGROUND = 512;

export interface ShellContext {
  children: Children;
  /** Commands in the foreground, and their limit. */
  foreground: { count: number; max: number };
  files: ShellFiles;
  jobs: Jobs;
  /** Context of the operations on jobs. */
  live: JobContext;
  policy: CommandPolicy;
  /** Fences every command, or only those that request it. */
  fence: {
    isAlways: boolean;
    /** Whether changes of commands in the workspace itself are refused or discarded. */
    isLayered: boolean;
    around: Fence;
  };
  /** Whether commands in the foreground are undoable unless the call says otherwise. */
  recordsCommands: boolean;
  /** The environment of every command. */
  environment: Environment;
  /** Names that a call may set. */
  allowedEnv: ReadonlySet<string>;
  /** Default working directory. */
  cwd: string;
  /** Jail for `cwd` of a call; relative paths start at the default working directory. */
  cwdJail: Jail;
  defaultTimeoutMs: number;
  maxTimeoutMs: number;
  maxOutputBytes: number;
  isSandboxEnabled: boolean;
  /** The change that this context belongs to. */
  layer?: OpenLayer;
  /** Canonical fs.host_root, with the configuration that a context in a change is opened from. */
  setup: { readonly root: string; readonly config: ShellConfig; readonly cell: CellConfig; readonly log: Log };
}

/** Functions on jobs that the original does not have; those that it has refuse bad input without a code. */
const LIVE_FUNCTIONS = new Set(['shell::output', 'shell::input', 'shell::attach']);

export const shell = defineWorker({
  name: 'shell',
  summary: 'Run guarded commands and background jobs, and work on files, on this host or in a sandbox.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ fs: { host_root: workspace } }),
  errors,
  failures: {
    badInput: (problem, functionId) =>
      functionId.startsWith('shell::fs::') || LIVE_FUNCTIONS.has(functionId)
        ? errors.fail('S210', { problem: badPayload(problem, functionId) })
        : refuse(problem),
    internal: (callId) => errors.fail('S216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) =>
      errors.fail('S216', {
        problem: `not done after ${deadlineMs} ms, which no setting raises; work on a smaller folder or file`,
      }),
  },
  translate,
  changes: {
    code: 'S230',
    named: 'field',
    within: (context, change) =>
      withinLayer({ workspace: context.setup.root, cell: context.setup.cell, change }, context, (layer) =>
        openInChange(context, layer),
      ),
  },
  spell,
  open: openShell,
  metrics: ({ jobs, foreground: { count } }) => [
    ...jobs.metrics(),
    gauge('workcell_commands_running', 'Commands that calls wait for now.', count),
  ],
  async close({ children, jobs, live, files, fence }) {
    live.attachments.close();
    await files.close();
    await children.close();
    await fence.around.close();
    jobs.close();
    await live.regexes.close();
  },
});

async function openShell(config: ShellConfig, log: Log, cell: CellConfig): Promise<ShellContext> {
  const root = rootOf(config);
  const cwd = defaultCwd(config, root);
  if (config.allowlist.length === 0 && config.fence === 'off')
    log.warn('shell.allowlist is empty: every program may run');
  const jobs = new Jobs(
    {
      maxConcurrentJobs: config.max_concurrent_jobs,
      retentionSecs: config.job_retention_secs,
      maxOutputBytes: config.max_output_bytes,
    },
    log,
  );
  const isLayered = config.fence === 'change';
  const fence = { isAlways: config.fence !== 'off', isLayered, around: openFence(config, root, cell, log) };
  const isOpen = async (port: number) =>
    (await fence.around.isListening(port)) || (!fence.isAlways && (await isListening(port)));
  return {
    fence,
    recordsCommands: config.record_commands === 'foreground',
    foreground: { count: 0, max: MAX_FOREGROUND },
    jobs,
    live: { jobs, attachments: new Attachments(), regexes: new RegexThreads(), isListening: isOpen },
    // With a root of `/` everything is writable, so the location of a program proves nothing.
    policy: new CommandPolicy(config, root === '/' ? undefined : root),
    environment: baseEnvironment(config, process.env),
    allowedEnv: new Set(config.allowed_env),
    cwd,
    cwdJail: openAbsoluteJail([root], { from: cwd }),
    defaultTimeoutMs: config.default_timeout_ms,
    maxTimeoutMs: config.max_timeout_ms,
    maxOutputBytes: config.max_output_bytes,
    isSandboxEnabled: config.sandbox.enabled,
    files: await openFiles(root, config.fs, cell),
    setup: { root, config, cell, log },
    // Opened last: an error after it would leave it open.
    children: await Children.open({ log }),
  };
}

/** Context of the worker in the layer of a change: own files and commands, and the jobs and limits of the worker. */
async function openInChange(context: ShellContext, layer: OpenLayer) {
  const { root, config, cell, log } = context.setup;
  const { view } = layer.mounted;
  const files = await openFiles(root, config.fs, cell, inViewOf(layer));
  const isAlways = context.fence.isAlways || layer.meta.outside === 'private';
  const around = openFence(config, root, cell, log, layer);
  const inner: ShellContext = {
    ...{ ...context, layer, files, fence: { ...context.fence, isAlways, around } },
    cwdJail: openAbsoluteJail([root], { from: context.cwd, view }),
  };
  return { context: inner, close: () => Promise.all([files.close(), around.close()]) };
}

function openFence(
  config: ShellConfig,
  workspace: string,
  { protect }: CellConfig,
  log: Log,
  layer?: OpenLayer,
): Fence {
  const { fence_network, fence_egress: egress, fence_paths: paths } = config;
  const network = layer?.meta.network === 'none' ? 'none' : fence_network;
  const around = { workspace, protect, network, egress, paths, log };
  if (!layer) return new Fence(around);
  return new Fence({ ...around, layer: layer.mounted, onHost: (host, verdict) => layer.activity.asked(host, verdict) });
}

/** The canonical directory that agents write in; `/` when unjailed. */
function rootOf({ fs: { host_root, allow_unjailed } }: ShellConfig): string {
  if (host_root === null && !allow_unjailed) {
    throw new ConfigError('shell.fs.host_root: null opens the whole host; say so with fs.allow_unjailed: true');
  }
  try {
    const { roots } = openAbsoluteJail([host_root ?? '/']);
    return roots[0]!;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`shell.fs.host_root: ${error.message}`, { cause: error });
  }
}

function badPayload(problem: string, functionId: string): string {
  return `bad ${functionId.split('::').at(-1)} payload: ${problem}`;
}
