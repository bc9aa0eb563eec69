/** The agent worker: configuration, failures, the jail of its file functions, and the sessions of its callers. */
import { resolve } from 'node:path';

import { ConfigError, defineWorker, shippedCell, type CellConfig, type Log } from '#contract';
import { HostError, JailChanges, openJail, sweepSoon, Workspace, type Jail } from '#host';
import { configSchema, type AgentConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { Sessions } from './session.ts';

export interface AgentContext {
  /** Canonical. */
  root: string;
  /** As configured; an absolute path may begin with either. */
  givenRoot: string;
  jail: Jail;
  /** Cleans up after killed processes. */
  sweep: Disposable;
  /** The only way to change files. */
  changes: JailChanges;
  /** Shared with other workers over base_path. */
  workspace: Workspace;
  sessions: Sessions;
  maxFileBytes: number;
  replyChars: number;
  /** The fence that commands ask for. */
  fence: AgentConfig['fence'];
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
    deadline: (deadlineMs) => errors.fail('A216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  open(config, log, cell) {
    const context = openAgent(config, log, cell);
    return context.workspace.recovered.then(() => context);
  },
  close({ workspace, sweep }) {
    sweep[Symbol.dispose]();
    return workspace.close();
  },
});

function openAgent(config: AgentConfig, log: Log, cell: CellConfig = shippedCell): AgentContext {
  const root = canonicalRoot(config.base_path);
  const { max_file_bytes: maxFileBytes } = config;
  const workspace = new Workspace(root, { ...cell, maxFileBytes, timeoutMs: config.search_timeout_ms });
  const jail = openJail(root, { isProtected: (path) => workspace.protects(path) });
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');
  return {
    root,
    givenRoot: resolve(config.base_path),
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, { isSynced: config.fsync, journalOf: () => workspace.journal }),
    workspace,
    sessions: new Sessions(() => workspace.journal, config.kept_output_bytes),
    maxFileBytes,
    replyChars: config.reply_chars,
    fence: config.fence,
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
