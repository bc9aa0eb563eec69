/**
 * Paths as a tree: one line for each folder with its content, or only with a count if it is too deep or has many files.
 */
import { quoted } from './text-lines.ts';

interface Folder {
  count: number;
  readonly folders: Map<string, Folder>;
  readonly files: string[];
}

/** Options for drawing a tree, from the fullest to the most folded. */
interface Drawing {
  readonly depth: number;
  /** A folder with more files shows the first few. */
  readonly mostFiles: number;
}

const MOST_FILES = 40;
const FEW_FILES = 8;

/** The fullest drawing that fits; `names` are relative to the folder that is shown. */
export function treeText(names: readonly string[], { depth, maxChars }: { depth: number; maxChars: number }): string {
  const root = treeOf(names);
  for (let level = depth; level > 0; level--) {
    for (const mostFiles of [MOST_FILES, FEW_FILES, 0]) {
      const text = draw(root, { depth: level, mostFiles }, level === 1 && mostFiles === 0);
      if (text.length <= maxChars) return text;
    }
  }
  return `${draw(root, { depth: 1, mostFiles: 0 }, true).slice(0, maxChars)}\n… cut: list a folder of it`;
}

function treeOf(names: readonly string[]): Folder {
  const root: Folder = { count: 0, folders: new Map(), files: [] };
  for (const name of names) {
    const parts = name.split('/');
    let folder = root;
    folder.count++;
    for (const part of parts.slice(0, -1)) {
      const next = folder.folders.get(part) ?? { count: 0, folders: new Map(), files: [] };
      folder.folders.set(part, next);
      next.count++;
      folder = next;
    }
    folder.files.push(parts.at(-1)!);
  }
  return root;
}

/** Folds the files of the first folder only in the last attempt, because a reader wants those most. */
function draw(root: Folder, { depth, mostFiles }: Drawing, foldsFirst: boolean): string {
  const lines: string[] = [];
  const add = ({ folders, files }: Folder, indent: string, level: number) => {
    for (const [name, folder] of folders) {
      const isFolded = level + 1 >= depth;
      lines.push(`${indent}${quoted(name)}/${isFolded ? ` (${folder.count})` : ''}`);
      if (!isFolded) add(folder, `${indent} `, level + 1);
    }
    if (files.length === 0) return;
    const isLong = files.length > mostFiles && (level > 0 || foldsFirst);
    const some = isLong ? files.slice(0, Math.min(FEW_FILES, mostFiles)) : files;
    lines.push(indent + [...some.map(quoted), ...(isLong ? [`(${files.length} files)`] : [])].join(' '));
  };
  add(root, '', 0);
  return lines.join('\n');
}
