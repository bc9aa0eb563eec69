/**
 * What a call changed in files, told from its payload and its reply: no file is read for it.
 *
 * Known are the functions of the workers that come with Workcell. Anything else has its payload and result.
 */
import { added, substitutionTitle, type FileChange } from './file-change.ts';
import { linesOf } from './line-diff.ts';
import { updateChange } from './line-ops.ts';
import { fieldOf, listOf, numberOf, textOf } from './loose-json.ts';
import { editChange, insertChange } from './text-edits.ts';

type Read = (payload: unknown, result: unknown) => FileChange[];

/** A failed file is told in its own row of the results. */
const each =
  (name: 'files' | 'paths', read: (asked: unknown, result: unknown) => FileChange): Read =>
  (payload, result) =>
    listOf(payload, name).map((asked, at) => {
      const row = listOf(result, 'results')[at];
      const change = read(asked, row);
      return fieldOf(row, 'success') === false ? failed(change, textOf(row, 'error')) : change;
    });

/** The actions of the filesystem worker answer a failure as a result. */
const action =
  (read: (payload: unknown, data: unknown) => FileChange): Read =>
  (payload, result) => {
    const change = read(payload, fieldOf(result, 'data'));
    return [fieldOf(result, 'success') === false ? failed(change, textOf(result, 'error')) : change];
  };

const one =
  (read: (payload: unknown, result: unknown) => FileChange): Read =>
  (payload, result) => [read(payload, result)];

const FILE_FUNCTIONS: Record<string, Read> = {
  write: one(writeChange),
  rm: one((payload, result) => plain(payload, 'path', did('deleted', result))),
  mv: one((payload, result) => ({ ...plain(payload, 'src', did('moved', result)), note: to(payload, 'dst') })),
  sed: sedChanges,
};

const READERS: Record<string, Read> = {
  'coder::update-file': each('files', updateChange),
  'coder::create-file': each('files', (file, row) =>
    writeChange(file, row && { created: fieldOf(file, 'overwrite') !== true }),
  ),
  'coder::delete-file': each('paths', (path, row) => ({
    path: typeof path === 'string' ? path : JSON.stringify(path),
    did: did('deleted', row),
    hunks: [],
    ...(fieldOf(row, 'removed') === false && { note: 'it was not there' }),
  })),
  'filesystem::edit': action(editChange),
  'filesystem::insert': action(insertChange),
  'filesystem::write': action(writeChange),
  'filesystem::rm': action((payload, data) => plain(payload, 'path', did('deleted', data))),
  'filesystem::mv': action((payload, data) => ({
    ...plain(payload, 'source', did('moved', data)),
    note: to(payload, 'destination'),
  })),
  'filesystem::cp': action((payload, data) => ({
    ...plain(payload, 'source', did('copied', data)),
    note: to(payload, 'destination'),
  })),
  ...below('shell::fs::'),
  ...below('sandbox::fs::'),
};

/** Undefined for a function that changes no files, or in a way not known here. `result` is absent until there is one. */
export function changesOf(functionId: string, payload: unknown, result?: unknown): FileChange[] | undefined {
  const changes = Object.hasOwn(READERS, functionId) ? READERS[functionId]!(payload, result) : [];
  return changes.length > 0 ? changes : undefined;
}

function below(prefix: string): Record<string, Read> {
  return Object.fromEntries(Object.entries(FILE_FUNCTIONS).map(([name, read]) => [prefix + name, read]));
}

function writeChange(payload: unknown, result: unknown): FileChange {
  const content = textOf(payload, 'content');
  const size = numberOf(result, 'bytes_written');
  return {
    path: textOf(payload, 'path') ?? '',
    did: did(fieldOf(result, 'created') === true ? 'created' : 'written', result),
    hunks: content === undefined ? [] : [{ lines: added(linesOf(content)) }],
    ...(content === undefined && { note: `${size ?? 'its'} bytes through a channel` }),
  };
}

function sedChanges(payload: unknown, result: unknown): FileChange[] {
  const pattern = textOf(payload, 'pattern') ?? '';
  const what = fieldOf(payload, 'regex') === false ? pattern : `/${pattern}/`;
  const title = substitutionTitle(what, textOf(payload, 'replacement') ?? '');
  return listOf(result, 'results')
    .filter((row) => fieldOf(row, 'success') === false || numberOf(row, 'replacements') !== 0)
    .map((row) => {
      const count = numberOf(row, 'replacements') ?? 0;
      const note = `${count} ${count === 1 ? 'replacement' : 'replacements'}`;
      const change: FileChange = {
        path: textOf(row, 'path') ?? '',
        did: 'edited',
        hunks: [{ title, lines: [] }],
        note,
      };
      return fieldOf(row, 'success') === false ? failed(change, textOf(row, 'error')) : change;
    });
}

function plain(payload: unknown, name: string, what: FileChange['did']): FileChange {
  return { path: textOf(payload, name) ?? '', did: what, hunks: [] };
}

function did(what: FileChange['did'], result: unknown): FileChange['did'] {
  return result === undefined ? 'asked for' : what;
}

function to(payload: unknown, name: string): string {
  return `to ${textOf(payload, name) ?? ''}`;
}

/** The reason is coded JSON in some workers, and a sentence in others. */
function failed(change: FileChange, error = 'it failed'): FileChange {
  return { ...change, did: 'asked for', failure: messageIn(error) };
}

function messageIn(error: string): string {
  if (!error.startsWith('{')) return error;
  try {
    const coded: unknown = JSON.parse(error);
    return [textOf(coded, 'code'), textOf(coded, 'message')].filter(Boolean).join(': ') || error;
  } catch {
    return error;
  }
}
