import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { Failure } from '#contract';
import { applyLineOps, type LineOp } from './line-edits.ts';

const RUNS = rounds(2_000, 10_000, 100_000);

const insert = (at_line: number, content: string): LineOp => ({ op: 'insert', at_line, content });
const remove = (from_line: number, to_line: number): LineOp => ({ op: 'remove', from_line, to_line });
const update = (from_line: number, to_line: number, content: string): LineOp => ({
  op: 'update_lines',
  from_line,
  to_line,
  content,
});

const edit = (text: string, ...ops: LineOp[]) =>
  applyLineOps(
    Buffer.from(text),
    ops.map((op, i) => ({ ...op, number: i + 1 })),
    { call: { signal: new AbortController().signal } },
  );
const edited = async (text: string, ...ops: LineOp[]) => String((await edit(text, ...ops)).text);

test.each([
  ['coder.C43 an insert goes before its line', 'one\ntwo\n', [insert(2, 'inserted')], 'one\ninserted\ntwo\n'],
  [
    'coder.C44 numbers are those of the text as it came',
    '# notes\n- one\n- two\n',
    [insert(2, 'draft'), update(3, 3, '- ONE')],
    '# notes\ndraft\n- one\n- ONE\n',
  ],
  ['coder.C46 appending adds no final newline', 'a\nb', [insert(3, 'X')], 'a\nb\nX'],
  ['coder.C47 an empty text gets no final newline', '', [insert(1, 'X')], 'X'],
  ['coder.C58 CRLF stays', 'a\r\nb\r\n', [update(2, 2, 'B')], 'a\r\nB\r\n'],
  ['coder.C59 lines keep their own endings', 'a\r\nb\nc\n', [update(3, 3, 'C')], 'a\r\nb\nC\n'],
  ['a new line ends as the line it precedes', 'a\r\nb\n', [insert(1, 'x'), insert(2, 'y')], 'x\r\na\r\ny\nb\n'],
  ['appended lines end as the last one', 'a\n\r\n', [insert(3, 'x\ny')], 'a\n\r\nx\r\ny\r\n'],
  ['the line before decides where the last has no newline', 'a\r\nb', [insert(3, 'x\ny')], 'a\r\nb\r\nx\r\ny'],
  ['a text without newlines gets LF', 'a', [insert(1, 'x'), insert(2, 'y')], 'x\na\ny'],
  ['replaced lines end as those at their places', 'a\r\nb\nc\r\n', [update(1, 2, 'x\ny\nz')], 'x\r\ny\nz\nc\r\n'],
  ['the last line goes with its newline', 'a\nb\n', [remove(2, 2)], 'a\n'],
  ['without a final newline, none is left', 'a\nb', [remove(2, 2)], 'a'],
  ['CRLF before a removed last line goes as a whole', 'a\r\nb', [remove(2, 2)], 'a'],
  ['everything may go', 'a\nb\n', [remove(1, 2)], ''],
  ['removing and appending meet at the end', 'a\nb', [remove(2, 2), insert(3, 'X')], 'a\nX'],
  ['empty content removes', 'a\nb\nc\n', [update(2, 3, '')], 'a\n'],
  ['a newline alone is an empty line', 'a\nb\n', [update(1, 1, '\n')], '\nb\n'],
  ['content may come with CRLF', 'a\nb\n', [insert(2, 'x\r\ny\r\n')], 'a\nx\ny\nb\n'],
  ['a lone carriage return is content', 'a\rb\nc\n', [update(2, 2, 'x\ry')], 'a\rb\nx\ry\n'],
  ['an insert may follow a removed range', 'a\nb\nc\n', [remove(1, 2), insert(3, 'x')], 'x\nc\n'],
  ['the byte order mark stays first', '\uFEFFa\nb\n', [insert(1, 'x')], '\uFEFFx\na\nb\n'],
  ['the byte order mark outlives its line', '\uFEFFa\nb\n', [remove(1, 2)], '\uFEFF'],
  ['a byte order mark that comes again is one', '\uFEFFa\nb\n', [update(1, 1, '\uFEFFx')], '\uFEFFx\nb\n'],
  ['a byte order mark elsewhere is content', 'a\n', [insert(2, '\uFEFFx')], 'a\n\uFEFFx\n'],
])('%s', async (_, before, ops, after) => {
  expect(await edited(before, ...ops)).toBe(after);
});

describe('refused', () => {
  const NO_RANGE = 'does not fit: the file has 4 lines, so 1 <= from_line <= to_line <= 4 must hold';

  test.each([
    ['coder.C49', 'op 1 (remove 1-3) and op 2 (update_lines 3-4) overlap', [remove(1, 3), update(3, 4, '')]],
    ['coder.C50', 'op 1 (insert at 2) and op 2 (remove 1-3) overlap', [insert(2, ''), remove(1, 3)]],
    ['coder.C50', 'op 1 (insert at 1) and op 2 (insert at 1) overlap', [insert(1, 'a'), insert(1, 'b')]],
    [
      'coder.C50',
      'op 1 (update_lines 2-2) and op 3 (insert at 2) overlap',
      [update(2, 2, ''), remove(4, 4), insert(2, '')],
    ],
    ['coder.C52', 'op 1 (insert at 0) does not fit: the file has 4 lines, so at_line may be 1 to 5', [insert(0, '')]],
    ['coder.C52', 'op 1 (insert at 6) does not fit: the file has 4 lines, so at_line may be 1 to 5', [insert(6, '')]],
    ['coder.C52', `op 1 (remove 1-9) ${NO_RANGE}`, [remove(1, 9)]],
    ['coder.C52', `op 1 (remove 2-1) ${NO_RANGE}`, [remove(2, 1)]],
    ['coder.C52', `op 1 (remove 0-1) ${NO_RANGE}`, [remove(0, 1)]],
    ['coder.C52', `op 2 (remove 5-5) ${NO_RANGE}`, [insert(5, ''), remove(5, 5)]],
    ['coder.C52', `op 1 (update_lines 0-0) ${NO_RANGE}`, [update(0, 0, '')]],
  ])('%s %s', async (_, message, ops) => {
    await expect(edit('1\n2\n3\n4\n', ...ops)).rejects.toThrow(new Failure({ code: 'C210', message }));
  });
});

test('sites are where the new lines are', async () => {
  const { text, sites } = await edit('a\nb\nc\nd', remove(4, 4), insert(1, 'é\nx'), update(2, 3, 'y'));
  expect(
    sites.map(({ op, start, end }) => [op, String(text.subarray(0, start)), String(text.subarray(start, end))]),
  ).toEqual([
    [2, '', 'é\nx\n'],
    [3, 'é\nx\na\n', 'y'],
    [1, 'é\nx\na\ny', ''],
  ]);
});

test('a thousand lines before one huge line do not read it a thousand times', async () => {
  const huge = 'x'.repeat(4 << 20);
  const lines = Array.from({ length: 100_000 }, (_, i) => `${i}`).join('\n');
  expect((await edit(huge, insert(1, lines))).text.length).toBe(lines.length + 1 + huge.length);
});

/** One line at a time, from the last operation to the first. */
function model(text: string, ops: readonly LineOp[]): string | undefined {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const lines = (text.slice(mark.length).match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const [, content, ending] = /^([^]*?)(\r?\n)?$/.exec(line)!;
    return { content: content!, ending };
  });
  const hadNewline = lines.at(-1)?.ending !== undefined;
  const endingOf = (index: number) =>
    lines[index]?.ending ?? lines.findLast((line, i) => i < index && line.ending)?.ending ?? '\n';
  const bounds = ops.map((op): [number, number] =>
    op.op === 'insert' ? [op.at_line, op.at_line] : [op.from_line, op.to_line],
  );

  for (const [i, [from, to]] of bounds.entries()) {
    const last = lines.length + (ops[i]!.op === 'insert' ? 1 : 0);
    if (from < 1 || to < from || to > last) return undefined;
    for (const [otherFrom, otherTo] of bounds.slice(i + 1)) if (from <= otherTo && otherFrom <= to) return undefined;
  }

  const result: { content: string; ending?: string }[] = lines.map((line, i) => ({
    ...line,
    ending: line.ending ?? endingOf(i),
  }));
  for (const op of ops.toSorted(
    (a, b) => (b.op === 'insert' ? b.at_line : b.from_line) - (a.op === 'insert' ? a.at_line : a.from_line),
  )) {
    const at = (op.op === 'insert' ? op.at_line : op.from_line) - 1;
    const count = op.op === 'insert' ? 0 : op.to_line - op.from_line + 1;
    const content = op.op === 'remove' ? '' : op.content;
    const added = content === '' ? [] : content.replace(/\n$/, '').split('\n');
    const place = (i: number) => Math.min(at + i, at + Math.max(count - 1, 0));
    result.splice(
      at,
      count,
      ...added.map((line, i) => ({ content: line.replace(/\r+$/, ''), ending: endingOf(place(i)) })),
    );
  }
  if (!hadNewline && result.length > 0) result.at(-1)!.ending = '';
  return mark + result.map(({ content, ending }) => content + ending).join('');
}

const CONTENTS = fc
  .array(fc.constantFrom('a', 'é', '\n', '\r\n', '\r', 'b'), { maxLength: 8 })
  .map((parts) => parts.join(''));
const TEXTS = fc
  .tuple(
    fc.constantFrom('', '\uFEFF'),
    fc.array(fc.constantFrom('a', 'é', '\n', '\r\n', 'a\n', 'b\r\n', '\r'), { maxLength: 24, size: 'max' }),
  )
  .map(([mark, parts]) => mark + parts.join(''));
/** Mostly lines that the text has. */
const opsFor = (text: string) => {
  const line = fc.integer({ min: 0, max: text.split('\n').length + 1 });
  const range = fc
    .tuple(line, fc.integer({ min: -1, max: 2 }))
    .map(([from, more]) => [from, Math.max(0, from + more)] as const);
  const op = fc.oneof(
    fc.tuple(line, CONTENTS).map(([at, content]) => insert(at, content)),
    range.map(([from, to]) => remove(from, to)),
    fc.tuple(range, CONTENTS).map(([[from, to], content]) => update(from, to, content)),
  );
  return fc.array(op, { minLength: 1, maxLength: 4 });
};
const EDITS = TEXTS.chain((text) => fc.tuple(fc.constant(text), opsFor(text)));

test('coder.P8 any operations on any text do what they do line by line', async () => {
  let refused = 0;
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(EDITS, async ([text, ops]) => {
      const expected = model(text, ops);
      if (expected === undefined) {
        refused++;
        await expect(edit(text, ...ops)).rejects.toThrow(Failure);
      } else {
        applied++;
        expect(await edited(text, ...ops)).toBe(expected);
      }
    }),
    { numRuns: RUNS },
  );
  expect(Math.min(refused, applied)).toBeGreaterThan(RUNS / 10);
});
