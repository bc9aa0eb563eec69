/** The console's diffs, made from what the workers really answer. */
import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import type { WorkerDef } from '#contract';
import { run, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';
import { changesOf } from '../../console/src/changes/changes-of.ts';
import type { FileChange } from '../../console/src/changes/file-change.ts';

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join('');
const workers: Pick<WorkerDef, 'functions'>[] = [coder, filesystem, shell];
const functions = workers.flatMap((worker) => worker.functions);

async function changesBy(id: string, payload: object, dir: TempDir): Promise<FileChange[]> {
  const configs: Record<string, object> = {
    coder: { base_path: dir.root },
    filesystem: { paths: [dir.root] },
    shell: { fs: { host_root: dir.root } },
  };
  const fn = functions.find((one) => one.id === id)!;
  const result = await run(fn, payload, { ...configs[id.split('::')[0]!] });
  return changesOf(id, payload, result)!;
}

/** A line as a diff prints it, after its number; what is not known stands in brackets. */
const printed = (change: FileChange | undefined) =>
  change?.hunks.map(({ title, lines }) => [
    ...(title === undefined ? [] : [title]),
    ...lines.map(({ sign, number, text, isUntold }) => `${number ?? ''}${sign}${isUntold ? `[${text}]` : text}`),
  ]);

/** Every line that is said to be there now is there, at its number. */
function expectTrue(change: FileChange | undefined, text: string): void {
  const lines = text.split('\n');
  for (const { number, text: shown, sign } of change?.hunks.flatMap((hunk) => hunk.lines) ?? []) {
    if (sign !== '-') expect([number, shown]).toEqual([number, lines[number! - 1]]);
  }
}

test('coder::update-file: what came, with the lines around it; what went, by its numbers', async () => {
  await using dir = await tempDir({ f: TEN });
  const ops = [
    { op: 'update_lines', from_line: 8, to_line: 9, content: 'eight\nnine\nnine and a half\n' },
    { op: 'insert', at_line: 1, content: 'zero' },
    { op: 'remove', from_line: 4, to_line: 4 },
  ];
  const [change] = await changesBy('coder::update-file', { files: [{ path: 'f', ops }] }, dir);

  expect([change?.path, change?.did]).toEqual(['f', 'edited']);
  expect(printed(change)).toEqual([
    ['1+zero', '2 line 1', '3 line 2'],
    ['3 line 2', '4 line 3', '-[line 4]', '5 line 5', '6 line 6', '7 line 7'],
    ['6 line 6', '7 line 7', '-[lines 8 to 9, 2 of them]', '8+eight', '9+nine', '10+nine and a half', '11 line 10'],
  ]);
  expectTrue(change, readFileSync(dir.path('f'), 'utf8'));
});

test('coder::update-file: a replacement shows its pattern and the lines that hold the new text', async () => {
  await using dir = await tempDir({ f: TEN });
  const ops = [{ op: 'replace', pattern: 'line (?:1|5)$', replacement: 'LINE' }];
  const withGroups = [{ op: 'replace', pattern: '(?m)line ([26])$', replacement: 'l$1' }];
  const files = [
    { path: 'f', ops: [{ ...ops[0], pattern: '(?m)line (?:1|5)$' }] },
    { path: 'f', ops: withGroups },
  ];
  const [literal, groups] = await changesBy('coder::update-file', { files }, dir);

  expect(printed(literal)).toEqual([
    ['/(?m)line (?:1|5)$/ → LINE', '1+LINE', '2 line 2', '3 line 3', '4 line 4', '5+LINE', '6 line 6', '7 line 7'],
  ]);
  expect(printed(groups)?.[0]).toEqual([
    '/(?m)line ([26])$/ → l$1',
    '1+LINE',
    '2+l2',
    '3+line 3',
    '4+line 4',
    '5+LINE',
    '6+l6',
    '7 line 7',
    '8 line 8',
  ]);
});

test('coder::update-file: a file that failed says why and what was asked for', async () => {
  await using dir = await tempDir({ f: 'one\n' });
  const ops = [{ op: 'update_lines', from_line: 7, to_line: 8, content: 'seven' }];
  const files = [
    { path: 'f', ops },
    { path: 'missing', ops },
  ];
  const [outside, missing] = await changesBy('coder::update-file', { files }, dir);

  expect([outside?.did, printed(outside)]).toEqual(['asked for', [['-[lines 7 to 8, 2 of them]', '7+seven']]]);
  expect([outside?.failure, missing?.failure]).toEqual([
    expect.stringMatching(/^C210: op 1 .*does not fit/),
    expect.stringMatching(/^C211: /),
  ]);
});

test('coder::create-file and coder::delete-file', async () => {
  await using dir = await tempDir({ old: 'x' });
  const files = [
    { path: 'new', content: 'a\nb\n' },
    { path: 'old', content: 'y', overwrite: true },
    { path: 'old', content: 'z' },
  ];
  const [created, replaced, refused] = await changesBy('coder::create-file', { files }, dir);
  expect([created?.did, printed(created), replaced?.did, refused?.did, refused?.failure]).toEqual([
    'created',
    [['1+a', '2+b']],
    'written',
    'asked for',
    expect.stringMatching(/^C217: /),
  ]);

  const deleted = await changesBy('coder::delete-file', { paths: ['new', 'never'] }, dir);
  expect(deleted).toEqual([
    { path: 'new', did: 'deleted', hunks: [] },
    { path: 'never', did: 'deleted', hunks: [], note: 'it was not there' },
  ]);
});

test.each([
  [
    'whole lines',
    'line 5\n',
    'five\nfive and a half\n',
    ['3 line 3', '4 line 4', '-line 5', '5+five', '6+five and a half', '7 line 6', '8 line 7'],
  ],
  ['inside a line', 'ne 10', 'ne ten', ['8 line 8', '9 line 9', '-line 10', '10+line ten']],
  ['over lines', '2\nline 3', '2 and 3', ['1 line 1', '-line 2', '-line 3', '2+line 2 and 3', '3 line 4', '4 line 5']],
  ['what is also nearby', 'line 4', 'line 3', ['2 line 2', '3 line 3', '-line 4', '4+line 3', '5 line 5', '6 line 6']],
  ['nothing left', 'line 7\n', '', ['-line 7']],
])('filesystem::edit: %s', async (_, old_string, new_string, lines) => {
  await using dir = await tempDir({ f: TEN });
  const [change] = await changesBy('filesystem::edit', { path: 'f', old_string, new_string }, dir);
  expect([change?.did, printed(change)]).toEqual(['edited', [lines]]);
  expectTrue(change, readFileSync(dir.path('f'), 'utf8'));
});

test('filesystem::edit in many places, and one that finds nothing', async () => {
  await using dir = await tempDir({ f: TEN });
  const asked = { path: 'f', old_string: 'line', new_string: 'row' };
  const [many] = await changesBy('filesystem::edit', { ...asked, count: 0 }, dir);
  const [none] = await changesBy('filesystem::edit', asked, dir);
  expect([many?.note, printed(many), none?.did, none?.failure]).toEqual([
    'in 10 places',
    [['-line', '+row']],
    'asked for',
    expect.stringContaining('old_string is not in'),
  ]);
});

test('filesystem::insert, write, mv, cp and rm', async () => {
  await using dir = await tempDir({ f: TEN });
  const [inserted] = await changesBy('filesystem::insert', { path: 'f', line: 2, content: 'new\nlines' }, dir);
  expect(printed(inserted)).toEqual([['1 line 1', '2+new', '3+lines', '4 line 2', '5 line 3']]);
  expectTrue(inserted, readFileSync(dir.path('f'), 'utf8'));

  const [written] = await changesBy('filesystem::write', { path: 'g', content: 'x\n' }, dir);
  const [moved] = await changesBy('filesystem::mv', { source: 'g', destination: 'h' }, dir);
  const [copied] = await changesBy('filesystem::cp', { source: 'h', destination: 'i' }, dir);
  const [removed] = await changesBy('filesystem::rm', { path: 'h' }, dir);
  expect([written, moved, copied, removed].map((change) => [change?.path, change?.did, change?.note])).toEqual([
    ['g', 'created', undefined],
    ['g', 'moved', 'to h'],
    ['h', 'copied', 'to i'],
    ['h', 'deleted', undefined],
  ]);
});

test('shell::fs::write and sed; a file without a match is left out', async () => {
  await using dir = await tempDir({ a: 'teh end', b: 'nothing' });
  const [written] = await changesBy('shell::fs::write', { path: dir.path('c'), content: 'see' }, dir);
  const payload = { files: [dir.path('a'), dir.path('b')], pattern: 'teh', replacement: 'the' };
  const changed = await changesBy('shell::fs::sed', payload, dir);
  expect([written?.did, printed(written), changed]).toEqual([
    'written',
    [['1+see']],
    [{ path: dir.path('a'), did: 'edited', hunks: [{ title: '/teh/ → the', lines: [] }], note: '1 replacement' }],
  ]);
});

test('a call that has not ended shows what it asks for', () => {
  const changes = changesOf('coder::create-file', { files: [{ path: 'n', content: 'a' }] });
  expect(changes).toEqual([{ path: 'n', did: 'asked for', hunks: [{ lines: [{ sign: '+', text: 'a', number: 1 }] }] }]);
});

test.each([
  ['coder::tree', {}],
  ['toString', {}],
  ['coder::update-file', null],
  ['coder::update-file', { files: 'none' }],
])('%s with %j changes nothing that is known', (id, payload) => {
  expect(changesOf(id, payload, {})).toBeUndefined();
});

test('a payload of another shape breaks nothing', () => {
  for (const id of ['coder::update-file', 'coder::create-file', 'coder::delete-file']) {
    expect(changesOf(id, { files: [null, 7, { ops: [null] }], paths: [{}] }, { results: 'x' })).toBeDefined();
  }
  for (const id of ['filesystem::edit', 'filesystem::insert', 'shell::fs::write', 'sandbox::fs::mv']) {
    expect(changesOf(id, [], 'text')).toBeDefined();
  }
});
