/** The filesystem worker: constraints, failures and the jail that its actions work in. */
import { ConfigError, defineWorker, shippedCell, type CellConfig, type Log } from '#contract';
import { HostError, JailChanges, openAbsoluteJail, SearchRoots, sweepSoon, type Jail, type JailMode } from '#host';
import { configSchema, type FilesystemConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { parseSize } from './size-text.ts';

export interface FilesystemContext {
  /** Takes absolute paths; a relative one starts at the first allowed path. */
  jail: Jail;
  /** Cleans up after killed processes. */
  sweep: Disposable;
  /** The only way to change files. */
  changes: JailChanges;
  maxFileBytes: number;
  /** Shared with other workers over the same directories: search and line indexes. */
  roots: SearchRoots;
}

export type Code = keyof typeof errors.table;

export const filesystem = defineWorker({
  name: 'filesystem',
  version: '2.0.0',
  summary: 'Read, edit, search, list, move and remove files by absolute path, within the paths that are allowed.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ paths: [workspace] }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('F210', { problem }),
    internal: (callId) => errors.fail('F216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) => errors.fail('F216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  failedResult: ({ code, message, extra }) => ({ success: false, error: message, metadata: { code, ...extra } }),
  open(config, log, cell) {
    const context = openFilesystem(config, log, cell);
    return context.roots.recovered().then(() => context);
  },
  close({ roots, sweep }) {
    sweep[Symbol.dispose]();
    return roots.close();
  },
});

/** Uses the best jail mode of the system unless one is given. */
export function openFilesystem(
  config: FilesystemConfig,
  log: Log,
  cell: CellConfig = shippedCell,
  mode?: JailMode,
): FilesystemContext {
  const maxFileBytes = parseSize(config.max_file_size)!;
  const roots = openRoots(config.paths ?? ['/'], { ...cell, mode, maxFileBytes, timeoutMs: config.search_timeout_ms });
  const from = config.paths === null ? process.cwd() : roots.roots[0];
  const jail = openAbsoluteJail(roots.roots, { mode, from, isHidden: roots.isHidden });
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');
  if (config.paths === null) log.warn('filesystem.paths is null: calls reach every file of this machine');
  return {
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, { isSynced: config.fsync, journalOf: roots.journalOf }),
    maxFileBytes,
    roots,
  };
}

function openRoots(...[paths, needs]: ConstructorParameters<typeof SearchRoots>): SearchRoots {
  try {
    return new SearchRoots(paths, needs);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`filesystem.paths: ${error.message}`, { cause: error });
  }
}
