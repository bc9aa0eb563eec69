/** The folders of the workspace, listed one at a time as they are opened. */
import { useEffect, useState } from 'preact/hooks';

import { bytes } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Empty, Row } from '../parts/layout.tsx';
import { busState, call } from '../session.ts';

interface DirEntry {
  name: string;
  kind: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  non_accessible: boolean;
}

interface Folder {
  entries: DirEntry[];
  total: number;
}

interface FileTreeProps {
  openPath: string | undefined;
  /** Without a path no file is open. */
  onOpen: (path?: string) => void;
}

const PAGE_SIZE = 500;
const ROOT = '';

export function FileTree({ openPath, onOpen }: FileTreeProps) {
  const [folders, setFolders] = useState<ReadonlyMap<string, Folder>>(new Map());
  const [openFolders, setOpenFolders] = useState<ReadonlySet<string>>(new Set([ROOT]));
  const [error, setError] = useState<unknown>(undefined);
  const load = (path: string) =>
    call<Folder>('coder::list-folder', { path: path === ROOT ? '.' : path, page_size: PAGE_SIZE }).then((folder) => {
      setFolders((known) => new Map(known).set(path, folder));
      setError(undefined);
    }, setError);
  useEffect(() => {
    if (busState.value === 'open') for (const path of openFolders) void load(path);
  }, [busState.value]);

  const toggle = (path: string) => {
    const next = new Set(openFolders);
    if (!next.delete(path)) next.add(path);
    setOpenFolders(next);
    if (next.has(path)) void load(path);
  };
  const rows = rowsBelow(ROOT, 0, folders, openFolders);
  const openRow = (path: string) =>
    rows.find((row) => row.path === path)?.entry.kind === 'dir' ? toggle(path) : onOpen(path);
  useListKeys({ keys: rows.map(({ path }) => path), open: openRow, close: () => onOpen() });

  if (error !== undefined) return <FailureCard error={error} />;
  if (folders.get(ROOT)?.total === 0) return <Empty title="The workspace is empty" />;
  return (
    <div class="tree">
      {rows.map(({ entry, path, depth, more }) => (
        <div key={path} style={{ paddingLeft: `${depth * 14}px` }}>
          <Row id={path} isOpen={path === openPath} onOpen={() => openRow(path)} class={entry.kind}>
            <span class="twist">{entry.kind === 'dir' ? (openFolders.has(path) ? '▾' : '▸') : ''}</span>
            <span class="mono cut grow">{entry.name}</span>
            <span class="quiet">
              {entry.non_accessible ? 'protected' : entry.kind === 'file' ? bytes(entry.size) : ''}
            </span>
          </Row>
          {more > 0 && <p class="quiet pad">and {more} more</p>}
        </div>
      ))}
    </div>
  );
}

interface TreeRow {
  entry: DirEntry;
  path: string;
  depth: number;
  /** Unlisted entries of its folder, on the last entry. */
  more: number;
}

/** Folders first, each followed by its content when open. */
function rowsBelow(
  folder: string,
  depth: number,
  folders: ReadonlyMap<string, Folder>,
  openFolders: ReadonlySet<string>,
): TreeRow[] {
  const listed = folders.get(folder);
  if (!listed || !openFolders.has(folder)) return [];
  const sorted = listed.entries.toSorted((a, b) => Number(b.kind === 'dir') - Number(a.kind === 'dir'));
  return sorted.flatMap((entry, at) => {
    const path = folder === ROOT ? entry.name : `${folder}/${entry.name}`;
    const more = at === sorted.length - 1 ? listed.total - sorted.length : 0;
    return [{ entry, path, depth, more }, ...rowsBelow(path, depth + 1, folders, openFolders)];
  });
}
