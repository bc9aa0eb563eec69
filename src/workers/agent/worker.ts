/** The agent worker: configuration, failures, the jail of its file functions, and the sessions of its callers. */
import { resolve } from 'node:path';

import { ConfigError, defineWorker, shippedCell, type CellConfig, type Log } from '#contract';
import {
  HostError,
  inViewOf,
  JailChanges,
  openJail,
  sweepSoon,
  withinLayer,
  Workspace,
  type InView,
  type Jail,
} from '#host';
import { configSchema, type AgentConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { Sessions } from './session.ts';

export interface AgentContext {
  /** Canonical. */
  root: string;
  /** Root as configured; an absolute path may begin with it or with `root`. */
  givenRoot: string;
  jail: Jail;
  /** Cleans up after killed processes. */
  sweep: Disposable;
  /** Makes every change of files. */
  changes: JailChanges;
  /** Shared with other workers over base_path. */
  workspace: Workspace;
  sessions: Sessions;
  maxFileBytes: number;
  replyChars: number;
  /** The fence that commands request. */
  fence: AgentConfig['fence'];
  /** Location of changes over base_path, and how calls work in one. */
  setup: { readonly cell: CellConfig; readonly reopen: (where: InView) => AgentContext };
}

export const agent = defineWorker({
  name: 'agent',
  summary: 'The tools of a coding agent: files, edits with undo, commands, jobs and sandboxes, with text as replies.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ base_path: workspace }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('A210', { problem }),
    internal: (callId) => errors.fail('A216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) =>
      errors.fail('A216', {
        problem: `not done after ${deadlineMs} ms, which no setting raises; ask for less in one call`,
      }),
  },
  translate,
  changes: {
    code: 'A230',
    // Bound to the session: a model that chooses the change in each call could forget it in one.
    named: 'bound',
    within: (context, change) =>
      withinLayer({ workspace: context.root, cell: context.setup.cell, change }, context, async (layer) => {
        const inner = context.setup.reopen(inViewOf(layer));
        await inner.workspace.recovered;
        return { context: inner, close: () => closeAgent(inner) };
      }),
  },
  open(config, log, cell) {
    const context = openAgent(config, log, cell);
    return context.workspace.recovered.then(() => context);
  },
  close: closeAgent,
});

function closeAgent({ workspace, sweep }: AgentContext): Promise<void> {
  sweep[Symbol.dispose]();
  return workspace.close();
}

function openAgent(
  config: AgentConfig,
  log: Log,
  cell: CellConfig = shippedCell,
  { view, journalDir }: InView = {},
): AgentContext {
  const root = view?.root ?? canonicalRoot(config.base_path);
  const { max_file_bytes: maxFileBytes } = config;
  const workspace = new Workspace(root, {
    ...{ ...cell, view, maxFileBytes, timeoutMs: config.search_timeout_ms },
    ...(journalDir !== undefined && { journal_dir: journalDir }),
  });
  const jail = openJail(root, { view, isProtected: (path) => workspace.protects(path) });
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');
  return {
    root,
    givenRoot: resolve(config.base_path),
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, {
      isSynced: config.fsync,
      journalOf: () => workspace.journal,
      pins: workspace.pins,
    }),
    workspace,
    sessions: new Sessions(() => workspace.journal, config.kept_output_bytes),
    maxFileBytes,
    replyChars: config.reply_chars,
    fence: config.fence,
    setup: { cell, reopen: (where) => openAgent(config, log, cell, where) },
  };
}

function canonicalRoot(path: string): string {
  try {
    return openJail(path).roots[0]!;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`agent.base_path: ${error.message}`, { cause: error });
  }
}
