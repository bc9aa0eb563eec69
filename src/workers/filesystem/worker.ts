/** The filesystem worker: constraints, failures and the jail that its actions work in. */
import { ConfigError, defineWorker, type Log } from '#contract';
import {
  HostError,
  JailChanges,
  LineIndexes,
  openAbsoluteJail,
  SearchRoots,
  sweepSoon,
  type Jail,
  type JailMode,
} from '#host';
import { configSchema, type FilesystemConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { parseSize } from './size-text.ts';

export interface FilesystemContext {
  /** Paths in it are absolute; a relative one starts at the first allowed path. */
  jail: Jail;
  /** Cleans up after processes that were killed. */
  sweep: Disposable;
  /** The one way to change files. */
  changes: JailChanges;
  maxFileBytes: number;
  lineIndexes: LineIndexes;
  search: SearchRoots;
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
    internal: (callId) => errors.fail('F216', { problem: `internal error; the log tells more under call ${callId}` }),
    deadline: (deadlineMs) => errors.fail('F216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  failedResult: ({ code, message, extra }) => ({ success: false, error: message, metadata: { code, ...extra } }),
  open: openFilesystem,
  close({ search, sweep }) {
    sweep[Symbol.dispose]();
    search.close();
  },
});

/** The mode is the best one the system offers unless it is given. */
export function openFilesystem(config: FilesystemConfig, log: Log, mode?: JailMode): FilesystemContext {
  const jail = openJail(config, mode);
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');
  if (config.paths === null) log.warn('filesystem.paths is null: calls reach every file of this machine');

  const changes = new JailChanges(jail, { isSynced: config.fsync });
  const maxFileBytes = parseSize(config.max_file_size)!;
  return {
    jail,
    sweep: sweepSoon(jail),
    changes,
    maxFileBytes,
    lineIndexes: new LineIndexes(),
    search: new SearchRoots(jail, { maxFileBytes, timeoutMs: config.search_timeout_ms }),
  };
}

function openJail({ paths }: FilesystemConfig, mode: JailMode | undefined): Jail {
  try {
    const [from] = openAbsoluteJail(paths?.slice(0, 1) ?? [process.cwd()], { mode }).roots;
    return openAbsoluteJail(paths ?? ['/'], { mode, from });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`filesystem.paths: ${error.message}`, { cause: error });
  }
}
