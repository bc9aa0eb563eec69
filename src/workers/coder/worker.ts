/** The coder worker: configuration, failures and the jail that its functions work in. */
import { constants } from 'node:buffer';
import { basename } from 'node:path';

import { ConfigError, defineWorker, shippedCell, type CellConfig, type Log } from '#contract';
import {
  compileProtected,
  FolderNames,
  GlobError,
  HostError,
  JailChanges,
  openJail,
  plainGlobs,
  sweepSoon,
  Workspace,
  inViewOf,
  withinLayer,
  type InView,
  type Jail,
  type JailChoice,
} from '#host';
import { configSchema, type CoderConfig } from './config.ts';
import { errors, translate } from './errors.ts';

/** Most nodes of one tree, so that no request can exhaust the memory. */
export const MAX_TREE_NODES = 50_000;

export interface CoderContext {
  jail: Jail;
  /** Cleans up after killed processes. */
  sweep: Disposable;
  /** Makes every change of files. */
  changes: JailChanges;
  /** Whether a path from base_path is protected; the jail itself refuses to open such a file. */
  isProtected: (relativePath: string) => boolean;
  maxReadBytes: number;
  maxWriteBytes: number;
  folderNames: FolderNames;
  defaultPageSize: number;
  maxPageSize: number;
  /** Last name of base_path on the host. */
  baseName: string;
  treeDepth: number;
  treePerFolderLimit: number;
  treeMaxNodes: number;
  /** Shared with other workers over base_path: search, regex threads for edits, line indexes. */
  workspace: Workspace;
  /** Time limit of one regex of an edit. */
  regexTimeoutMs: number;
  defaultMaxMatches: number;
  defaultMaxLineBytes: number;
  /** Location of changes over base_path, and how calls work in one. */
  setup: { readonly cell: CellConfig; readonly reopen: (where: InView) => CoderContext };
}

export const coder = defineWorker({
  name: 'coder',
  summary: 'Read, search, edit and list the files of one directory.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ base_path: workspace }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('C210', { problem }),
    internal: (callId) => errors.fail('C216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) =>
      errors.fail('C216', {
        problem: `not done after ${deadlineMs} ms, which no setting raises; name fewer files or a smaller folder`,
      }),
  },
  translate,
  changes: {
    code: 'C230',
    named: 'field',
    within: (context, change) =>
      withinLayer({ workspace: context.workspace.root, cell: context.setup.cell, change }, context, async (layer) => {
        const inner = context.setup.reopen(inViewOf(layer));
        await inner.workspace.recovered;
        return { context: inner, close: () => closeCoder(inner) };
      }),
  },
  open(config, log, cell) {
    const context = openCoder(config, log, cell);
    return context.workspace.recovered.then(() => context);
  },
  prepare: ({ workspace }) => workspace.prepare(),
  close: closeCoder,
});

function closeCoder({ workspace, sweep }: CoderContext): Promise<void> {
  sweep[Symbol.dispose]();
  return workspace.close();
}

/** Uses the best jail mode of the system unless one is given. */
export function openCoder(
  config: CoderConfig,
  log: Log,
  cell: CellConfig = shippedCell,
  choice?: JailChoice & InView,
): CoderContext {
  const own = plainGlobs(config.non_accessible_globs);
  const isOwn = refusing('non_accessible_globs', GlobError, () => compileProtected([own]));
  const [root] = choice?.view
    ? [choice.view.root]
    : refusing('base_path', HostError, () => openJail(config.base_path, choice).roots);
  const workspace = new Workspace(root!, {
    ...cell,
    own,
    mode: choice?.mode,
    view: choice?.view,
    ...(choice?.journalDir !== undefined && { journal_dir: choice.journalDir }),
    maxFileBytes: config.max_read_bytes,
    timeoutMs: config.search_timeout_ms,
    indexMemoryBytes: config.index === 'off' ? 0 : config.index_memory_mb * 2 ** 20,
  });
  const isProtected = (path: string) => isOwn(path) || workspace.protects(path);
  const jail = openJail(root!, { ...choice, isProtected });
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');

  return {
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, {
      isSynced: config.fsync,
      journalOf: () => workspace.journal,
      pins: workspace.pins,
    }),
    isProtected,
    // Files become strings, and this is the longest string.
    maxReadBytes: Math.min(config.max_read_bytes, constants.MAX_STRING_LENGTH),
    maxWriteBytes: config.max_write_bytes,
    folderNames: new FolderNames(),
    defaultPageSize: config.list_default_page_size,
    maxPageSize: config.list_max_page_size,
    baseName: basename(root!) || '/',
    treeDepth: config.tree_default_depth,
    treePerFolderLimit: config.tree_per_folder_limit,
    treeMaxNodes: MAX_TREE_NODES,
    workspace,
    regexTimeoutMs: config.search_timeout_ms,
    defaultMaxMatches: config.search_default_max_matches,
    defaultMaxLineBytes: config.search_default_max_line_bytes,
    setup: { cell, reopen: (where) => openCoder(config, log, cell, { ...choice, ...where }) },
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
