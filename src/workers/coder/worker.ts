/** The coder worker: configuration, failures and the jail that its functions work in. */
import { constants } from 'node:buffer';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';

import { ConfigError, defineWorker, type Log } from '#contract';
import {
  compileGlobs,
  FolderNames,
  GlobError,
  HostError,
  JailChanges,
  LineIndexes,
  openJail,
  RegexThreads,
  SearchEngine,
  sweepSoon,
  type Jail,
  type JailChoice,
} from '#host';
import { configSchema, type CoderConfig } from './config.ts';
import { errors, translate } from './errors.ts';

/** What one tree shows at most, so that no request can exhaust the memory. */
export const MAX_TREE_NODES = 50_000;

export interface CoderContext {
  jail: Jail;
  /** Cleans up after processes that were killed. */
  sweep: Disposable;
  /** The one way to change files. */
  changes: JailChanges;
  /** Whether a path from base_path is protected; the jail itself refuses to open such a file. */
  isProtected: (relativePath: string) => boolean;
  maxReadBytes: number;
  maxWriteBytes: number;
  folderNames: FolderNames;
  lineIndexes: LineIndexes;
  defaultPageSize: number;
  maxPageSize: number;
  /** What base_path itself is called on the host. */
  baseName: string;
  treeDepth: number;
  treePerFolderLimit: number;
  treeMaxNodes: number;
  search: SearchEngine;
  /** Runs the regexes of edits. */
  regexes: RegexThreads;
  defaultMaxMatches: number;
  defaultMaxLineBytes: number;
}

export const coder = defineWorker({
  name: 'coder',
  summary: 'Read, search, edit and list the files of one directory.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ base_path: workspace }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('C210', { problem }),
    internal: (callId) => errors.fail('C216', { problem: `internal error; the log tells more under call ${callId}` }),
    deadline: (deadlineMs) => errors.fail('C216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  open: openCoder,
  prepare: ({ search }) => search.prepare(),
  close: async ({ search, regexes, sweep }) => {
    sweep[Symbol.dispose]();
    search.close();
    await regexes.close();
  },
});

/** The jail works in the best way that the system offers unless another is chosen. */
export function openCoder(config: CoderConfig, log: Log, way?: JailChoice): CoderContext {
  const isProtected = refusing('non_accessible_globs', GlobError, () => compileGlobs(config.non_accessible_globs));
  const jail = refusing('base_path', HostError, () => openJail(config.base_path, { ...way, isProtected }));
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');

  return {
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, { isSynced: config.fsync }),
    isProtected,
    // What is read becomes text, and this is the longest there is.
    maxReadBytes: Math.min(config.max_read_bytes, constants.MAX_STRING_LENGTH),
    maxWriteBytes: config.max_write_bytes,
    folderNames: new FolderNames(),
    lineIndexes: new LineIndexes(),
    defaultPageSize: config.list_default_page_size,
    maxPageSize: config.list_max_page_size,
    baseName: basename(realpathSync(config.base_path)) || '/',
    treeDepth: config.tree_default_depth,
    treePerFolderLimit: config.tree_per_folder_limit,
    treeMaxNodes: MAX_TREE_NODES,
    search: new SearchEngine(jail, {
      root: config.base_path,
      protectedGlobs: config.non_accessible_globs,
      maxFileBytes: config.max_read_bytes,
      index: config.index,
      timeoutMs: config.search_timeout_ms,
      indexMemoryBytes: config.index_memory_mb * 2 ** 20,
    }),
    regexes: new RegexThreads({ timeoutMs: config.search_timeout_ms }),
    defaultMaxMatches: config.search_default_max_matches,
    defaultMaxLineBytes: config.search_default_max_line_bytes,
  };
}

function refusing<T>(key: keyof CoderConfig, expected: typeof GlobError | typeof HostError, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    throw new ConfigError(`coder.${key}: ${error.message}`, { cause: error });
  }
}
