/** A diff as callers get it: counts of everything, all deletions, and as many rows as fit. */
import { versionOf } from '../../changes/jail-version.ts';
import type { LayerContents, PathEntry } from './contents.ts';
import type { LayerInspection } from './inspect-layer.ts';
import { bitsOf, isTooLarge, shownText, type Row, type RowKind } from './rows.ts';
import { unifiedDiff } from './unified.ts';

export interface ReportOptions {
  readonly isText: boolean;
  readonly contextLines: number;
  readonly maxOutputBytes: number;
  /** Rows up to this path were in an earlier page. */
  readonly after?: string | undefined;
  readonly throwIfAborted: () => void;
}

export interface ReportedFile {
  readonly path: string;
  readonly kind: RowKind;
  readonly from?: string;
  readonly is_directory?: true;
  readonly old_mode?: string;
  readonly new_mode?: string;
  readonly old_version?: string;
  readonly new_version?: string;
  /** Targets of a symlink. */
  readonly old_target?: string;
  readonly new_target?: string;
  readonly binary?: true;
  readonly size?: number;
  readonly unified?: string;
  readonly too_large?: true;
}

export interface Summary {
  added: number;
  modified: number;
  deleted: number;
  renamed: number;
  mode: number;
  links: number;
  binary: number;
  bytes: number;
}

export interface Report {
  readonly summary: Summary;
  readonly deleted: string[];
  readonly files: ReportedFile[];
  readonly trees: { path: string; files: number; bytes: number }[];
  readonly truncated: boolean;
  readonly next_after?: string;
}

/** Most deletions that are listed; the summary counts all. */
const MAX_DELETED = 10_000;

export async function reportOf({ rows, contents }: LayerInspection, options: ReportOptions): Promise<Report> {
  const summary: Summary = { added: 0, modified: 0, deleted: 0, renamed: 0, mode: 0, links: 0, binary: 0, bytes: 0 };
  const files: ReportedFile[] = [];
  let left = options.maxOutputBytes;
  let nextAfter: string | undefined;
  for (const row of rows) {
    options.throwIfAborted();
    const isShown = left > 0 && (options.after === undefined || row.path > options.after);
    const texts = row.tree ? undefined : await textsOf(row, contents, isShown && options.isText);
    count(summary, row, texts?.isBinary === true);
    if (!isShown) continue;
    const file = reported(row, texts, contents, options);
    // A row that is larger than a page alone is shown without its text.
    const fits = sizeOf(file) <= left || files.length === 0;
    const shown = fits && sizeOf(file) > left ? withoutText(file) : file;
    left = fits ? left - sizeOf(shown) : 0;
    if (fits) files.push(shown);
    else nextAfter = files.at(-1)!.path;
    if (left <= 0) nextAfter ??= row.path;
  }
  const isCut = nextAfter !== undefined && rows.some(({ path }) => path > nextAfter);
  return {
    summary,
    deleted: rows.flatMap(({ kind, path }) => (kind === 'deleted' ? [path] : [])).slice(0, MAX_DELETED),
    files,
    trees: rows.flatMap(({ tree }) => (tree ? [{ path: tree.path, files: tree.files, bytes: tree.bytes }] : [])),
    truncated: isCut,
    ...(isCut && { next_after: nextAfter }),
  };
}

interface RowTexts {
  readonly isBinary: boolean;
  readonly before?: string;
  readonly after?: string;
}

/** Reads the texts, if they are shown; else only as much as shows whether the file is binary. */
async function textsOf(row: Row, contents: LayerContents, isText: boolean): Promise<RowTexts> {
  if (row.kind === 'mode' || row.kind === 'link' || row.kind === 'deleted') return { isBinary: false };
  if (isTooLarge(row)) return { isBinary: row.after?.entry.type === 'file' && contents.isBinary(row.after) };
  const after = await shownText(row.after, contents);
  if (after === undefined || !isText) return { isBinary: after === undefined };
  const before = await shownText(row.before, contents);
  return before === undefined ? { isBinary: row.before?.entry.type === 'file' } : { isBinary: false, before, after };
}

function count(summary: Summary, { kind, after, tree }: Row, isBinary: boolean): void {
  if (tree) {
    summary.added += tree.files;
    summary.bytes += tree.bytes;
    return;
  }
  if (kind === 'link') summary.links++;
  else if (kind !== 'tree') summary[kind]++;
  if (isBinary) summary.binary++;
  if (after?.entry.type === 'file' && kind !== 'mode') summary.bytes += Number(after.entry.stat.size);
}

function reported(
  row: Row,
  texts: RowTexts | undefined,
  contents: LayerContents,
  options: ReportOptions,
): ReportedFile {
  const { path, kind, from, before, after } = row;
  if (!texts) return { path, kind };
  const isLarge = isTooLarge(row);
  const modes = before && after ? [before, after].map((one) => octal(bitsOf(one.entry))) : [];
  const file = after ?? before;
  return {
    path,
    kind,
    ...(from !== undefined && { from }),
    ...(file?.entry.type === 'directory' && { is_directory: true }),
    ...(modes[0] !== modes[1] && { old_mode: modes[0]!, new_mode: modes[1]! }),
    ...facts(row, texts, contents),
    ...(texts.isBinary && { binary: true }),
    ...(file?.entry.type === 'file' && { size: Number(file.entry.stat.size) }),
    ...(isLarge && kind !== 'mode' && kind !== 'deleted' && { too_large: true }),
    ...unifiedOf(row, texts, options),
  };
}

/** Versions of the texts, and targets of symlinks. */
function facts({ before, after }: Row, texts: RowTexts, contents: LayerContents): Partial<ReportedFile> {
  const target = (one: PathEntry | undefined) =>
    one?.entry.type === 'link' ? Buffer.from(contents.linkOf(one), 'latin1').toString() : undefined;
  const [old, now] = [target(before), target(after)];
  const isText = after?.entry.type === 'file' && texts.after !== undefined;
  return {
    ...(before && texts.before !== undefined && { old_version: versionOf(Buffer.from(texts.before)) }),
    ...(isText && { new_version: versionOf(Buffer.from(texts.after)) }),
    ...(old !== undefined && { old_target: old }),
    ...(now !== undefined && { new_target: now }),
  };
}

function unifiedOf({ path, from, before, after, kind }: Row, texts: RowTexts, { contextLines }: ReportOptions) {
  if (texts.after === undefined || texts.before === undefined || after?.entry.type !== 'file') return {};
  const old = kind === 'added' || !before ? undefined : (from ?? path);
  const unified = unifiedDiff(texts.before, texts.after, { from: old, to: path, contextLines });
  return unified === '' ? {} : { unified };
}

function withoutText({ unified: _, ...file }: ReportedFile): ReportedFile {
  return { ...file, too_large: true };
}

function sizeOf(file: ReportedFile): number {
  return Buffer.byteLength(JSON.stringify(file));
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
