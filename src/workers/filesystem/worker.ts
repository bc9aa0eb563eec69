/** The filesystem worker: constraints, failures and the jail that its actions work in. */
import { ConfigError, defineWorker, shippedCell, type CellConfig, type Log } from '#contract';
import {
  HostError,
  inViewOf,
  JailChanges,
  layersOf,
  openAbsoluteJail,
  SearchRoots,
  sweepSoon,
  withinLayer,
  type InView,
  type Jail,
  type JailMode,
} from '#host';
import { configSchema, type FilesystemConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { parseSize } from './size-text.ts';

export interface FilesystemContext {
  /** Takes absolute paths; a relative one starts at the first allowed path. */
  jail: Jail;
  /** Cleans up after killed processes. */
  sweep: Disposable;
  /** Makes every change of files. */
  changes: JailChanges;
  maxFileBytes: number;
  /** Shared with other workers over the same directories: search and line indexes. */
  roots: SearchRoots;
  /** Location of changes over an allowed path, and how calls work in one. */
  setup: { readonly cell: CellConfig; readonly reopen: (where: InView) => FilesystemContext };
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
    deadline: (deadlineMs) =>
      errors.fail('F216', {
        problem: `not done after ${deadlineMs} ms, which no setting raises; name a smaller folder or file`,
      }),
  },
  translate,
  changes: {
    code: 'F230',
    named: 'field',
    within: (context, change) =>
      withinLayer({ workspace: changedRoot(context), cell: context.setup.cell, change }, context, async (layer) => {
        const inner = context.setup.reopen(inViewOf(layer));
        await inner.roots.recovered();
        return { context: inner, close: () => closeFilesystem(inner) };
      }),
  },
  failedResult: ({ code, message, extra }) => ({ success: false, error: message, metadata: { code, ...extra } }),
  open(config, log, cell) {
    const context = openFilesystem(config, log, cell);
    return context.roots.recovered().then(() => context);
  },
  close: closeFilesystem,
});

function closeFilesystem({ roots, sweep }: FilesystemContext): Promise<void> {
  sweep[Symbol.dispose]();
  return roots.close();
}

/** The allowed path that has changes; a call in one reaches no other path. */
function changedRoot({ roots: { roots }, setup: { cell } }: FilesystemContext): string {
  return roots.find((root) => layersOf(root, cell)) ?? roots[0]!;
}

/** Uses the best jail mode of the system unless one is given. */
export function openFilesystem(
  config: FilesystemConfig,
  log: Log,
  cell: CellConfig = shippedCell,
  mode?: JailMode,
  { view, journalDir }: InView = {},
): FilesystemContext {
  const maxFileBytes = parseSize(config.max_file_size)!;
  const roots = openRoots(config.paths ?? ['/'], {
    ...{ ...cell, mode, view, maxFileBytes, timeoutMs: config.search_timeout_ms },
    ...(journalDir !== undefined && { journal_dir: journalDir }),
  });
  const from = config.paths === null && !view ? process.cwd() : roots.roots[0];
  const jail = openAbsoluteJail(roots.roots, { mode, view, from, isHidden: roots.isHidden });
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');
  if (config.paths === null && !view) log.warn('filesystem.paths is null: calls reach every file of this machine');
  return {
    jail,
    sweep: sweepSoon(jail),
    changes: new JailChanges(jail, { isSynced: config.fsync, journalOf: roots.journalOf, pins: roots.pins }),
    maxFileBytes,
    roots,
    setup: { cell, reopen: (where) => openFilesystem(config, log, cell, mode, where) },
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
