/** Refused patches: no file changes, and the failure has the lines that the next patch needs. */
import { existsSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesBelow, patchCases, run, tempDir } from '#testing';
import { applyPatch } from './apply-patch.ts';

const { apply, v4a } = patchCases(applyPatch);
const version = (text: string) => versionOf(Buffer.from(text));

test('patch.C4 coder.P25 a failure in file 7 of 9 changes none of the nine', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `f${i + 1}`);
  await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, 'old\n'])));
  const before = filesBelow(dir);
  const patch = v4a(
    ...names.flatMap((name, i) => [`*** Update File: ${name}`, '@@', i === 6 ? '-other' : '-old', '+new']),
  );
  await expect(apply(dir, patch)).rejects.toMatchObject({ code: 'C222', extra: { file: 'f7' } });
  expect(filesBelow(dir)).toEqual(before);
});

test('patch.C7 coder.P27 a patch that is already applied is reported as such and changes nothing', async () => {
  await using dir = await tempDir({ f: 'a\nb\nc\nd\n' });
  const patch = v4a('*** Update File: f', '@@', ' a', '-b', '+B', ' c', '@@', ' d', '+e');
  await apply(dir, patch);
  await expect(apply(dir, patch)).rejects.toMatchObject({
    code: 'C222',
    message: 'chunk 1 of f is already applied: its new lines are at line 1; leave it out',
    extra: { already_applied: 1, others: [{ chunk: 2, already_applied: 4 }] },
  });
  expect(filesBelow(dir)).toEqual({ f: 'a\nB\nc\nd\ne\n' });
});

test('an error of a later section does not hide that a chunk is already applied', async () => {
  await using dir = await tempDir({ f: 'a {\n    b\n}\n', g: 'x\n' });
  const patch = v4a('*** Update File: f', '@@', ' a {', '+  c', '   b', '*** Update File: g', '*** Move to: h');
  await apply(dir, patch);
  await expect(apply(dir, patch)).rejects.toMatchObject({ code: 'C222', extra: { file: 'f', already_applied: 1 } });
  expect(filesBelow(dir)).toEqual({ f: 'a {\n    c\n    b\n}\n', h: 'x\n' });
});

test('coder.P27 a chunk that does not match reports the first differing line and the lines of the file', async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `const value${i} = compute(${i});`);
  await using dir = await tempDir({ 'src/a.ts': lines.map((line) => `${line}\n`).join('') });
  const patch = v4a(
    '*** Update File: src/a.ts',
    ...['@@', '-const value2 = compute(2);', '+const value2 = 2;'],
    ...['@@', ' const value19 = compute(19);', '-const value20 = compote(20);', '+x', ' const value21 = compute(21);'],
  );
  await expect(apply(dir, patch)).rejects.toMatchObject({
    code: 'C222',
    message:
      'chunk 2 of src/a.ts does not fit: the nearest place is line 20, where line 21 is "const value20 = compute(20);" and not "const value20 = compote(20);"',
    extra: {
      file: 'src/a.ts',
      chunk: 2,
      version: versionOf(readFileSync(dir.path('src/a.ts'))),
      nearest: {
        line_from: 17,
        line_to: 25,
        matched: 2,
        of: 3,
        first_difference: { line: 21, expected: 'const value20 = compote(20);', found: 'const value20 = compute(20);' },
        text: lines.slice(16, 25).join('\n'),
      },
    },
  });
});

test('if only whitespace differs, the fix is a patch that matches', async () => {
  await using dir = await tempDir({ f: 'if (x) {\n    call(a,  b);\n}\n' });
  const patch = v4a('*** Update File: f', '@@', '-  call(a, b);', '+  call(b);');
  const failure = await apply(dir, patch).catch((error: unknown) => error as { extra: { fix: { patch: string } } });
  const fix = (failure as { extra: { fix: { patch: string } } }).extra.fix;
  expect(fix).toEqual({ patch: v4a('*** Update File: f', '@@', '-    call(a,  b);', '+    call(b);') });
  await apply(dir, fix.patch);
  expect(filesBelow(dir)).toEqual({ f: 'if (x) {\n    call(b);\n}\n' });
});

test('a failure reports the first ten chunks without a match', async () => {
  await using dir = await tempDir({ f: 'a\n', g: 'b\n' });
  const chunks = (count: number) => Array.from({ length: count }, (_, i) => ['@@', `-missing ${i}`, '+x']).flat();
  const patch = v4a('*** Update File: f', ...chunks(4), '*** Update File: g', ...chunks(20));
  const { extra } = (await apply(dir, patch).catch((error: unknown) => error)) as { extra: Record<string, unknown[]> };
  expect(extra.others!.map((other) => (other as { problem: string }).problem.slice(0, 12))).toEqual([
    ...[2, 3, 4].map((chunk) => `chunk ${chunk} of f`),
    ...[1, 2, 3, 4, 5, 6].map((chunk) => `chunk ${chunk} of g`),
  ]);
});

test.each([
  [
    'patch.C11 doubled signs',
    ['@@', '-- old', '+- new'],
    'without the second sign of its lines it fits line 1; write one "-" or "+" before a line',
  ],
  [
    'chunks out of order',
    ['@@', '-last', '+x', '@@', '-old', '+y'],
    'chunk 2 of f matches line 1, above the end of the previous chunk; put the chunks in the order of the file',
  ],
  ['a missing scope', ['@@ nowhere', '-old', '+x'], 'the file has no line "nowhere", which its "@@" names'],
  [
    'more lines than the file has',
    ['@@', ' middle', ' last', '-more', '+x'],
    'the nearest place is line 2, where the file ends before "more"',
  ],
  ['no similar line', ['@@', '-qqqqqqq', '+x'], 'none of its lines is in the file'],
  [
    'only new lines in the middle',
    ['@@ -1,0 +2 @@', '+x'],
    'it has only new lines, so it cannot be placed; send some lines above and below them',
  ],
])('%s', async (_, lines, message) => {
  await using dir = await tempDir({ f: 'old\nmiddle\nlast\n' });
  await expect(apply(dir, v4a('*** Update File: f', ...lines))).rejects.toMatchObject({
    code: 'C222',
    message: expect.stringContaining(message),
  });
  expect(filesBelow(dir)).toEqual({ f: 'old\nmiddle\nlast\n' });
});

test('expected_versions: a mismatch is refused, and the fix is the request with the current version', async () => {
  await using dir = await tempDir({ a: 'a\n', b: 'b\n' });
  const patch = v4a('*** Update File: a', '@@', '-a', '+A', '*** Delete File: b');
  const wrong = { a: version('a\n'), b: version('x\n') };
  await expect(apply(dir, patch, { expected_versions: wrong })).rejects.toMatchObject({
    code: 'C221',
    extra: { version: version('b\n'), fix: { patch, expected_versions: { ...wrong, b: version('b\n') } } },
  });
  await expect(apply(dir, patch, { expected_versions: { c: 'x' } })).rejects.toMatchObject({ code: 'C210' });
  expect(filesBelow(dir)).toEqual({ a: 'a\n', b: 'b\n' });
  await apply(dir, patch, { expected_versions: { ...wrong, b: version('b\n') } });
  expect(filesBelow(dir)).toEqual({ a: 'A\n' });
});

test.each([
  ['a missing file', '*** Update File: nothing', 'C211', 'nothing does not exist or is protected'],
  ['a protected file', '*** Update File: .env', 'C211', '.env does not exist or is protected'],
  [
    'a path outside',
    '*** Update File: ../f',
    'C215',
    '../f leaves base_path or goes through a dangling symlink; send a path below base_path',
  ],
  ['an absolute path', '*** Update File: /etc/passwd', 'C210', '/etc/passwd must be a relative path'],
  ['a directory', '*** Update File: d', 'C210', 'd is not a regular file'],
  ['a binary file', '*** Update File: binary', 'C210', 'binary is not UTF-8 text'],
])('patch.C9 %s', async (_, header, code, message) => {
  await using dir = await tempDir({ f: 'a\n', '.env': 'a\n', 'd/x': 'a\n', binary: Buffer.from([0x61, 0xff, 0x0a]) });
  await expect(apply(dir, v4a(header, '@@', '-a', '+b'))).rejects.toMatchObject({ code, message });
});

test('patch.C9 a patch of a symlink inside changes its target, and the symlink stays', async () => {
  await using dir = await tempDir({ 'd/f': 'a\n', link: { symlink: 'd/f' }, above: { symlink: 'd' } });
  await apply(dir, v4a('*** Update File: link', '@@', '-a', '+b'));
  await apply(dir, v4a('*** Update File: above/f', '@@', '-b', '+c', '*** Add File: above/g', '+g'));
  expect(filesBelow(dir)).toEqual({ 'd/f': 'c\n', 'd/g': 'g\n', link: '-> d/f', above: '-> d' });
});

test.each([
  ['to a file outside', '../outside/f', 'C215'],
  ['to a missing file outside', '../outside/new', 'C215'],
  ['to nothing', 'nothing', 'C215'],
  ['to a protected file', '.env', 'C211'],
])('patch.C9 a patch through a symlink %s is refused, whatever it does', async (_, symlink, code) => {
  await using dir = await tempDir({
    'ws/f': 'a\n',
    'ws/.env': 'a\n',
    'ws/link': { symlink },
    'ws/up': { symlink: '../outside' },
    'outside/f': 'a\n',
  });
  const before = filesBelow(dir);
  const ws = { ...dir, root: dir.path('ws') };
  for (const [refusal, ...lines] of [
    [code, '*** Update File: link', '@@', '-a', '+b'],
    [code, '*** Add File: link', '+b'],
    ['C210', '*** Update File: f', '*** Move to: link'],
    ['C215', '*** Update File: up/f', '@@', '-a', '+b'],
    ['C215', '*** Add File: up/new', '+b'],
    ['C215', '*** Delete File: up/f'],
    ['C215', '*** Update File: f', '*** Move to: up/g'],
  ] as const) {
    const patch = v4a('*** Add File: new', '+n', ...lines);
    await expect(apply(ws, patch)).rejects.toMatchObject({ code: refusal });
  }
  expect(filesBelow(dir)).toEqual(before);
});

test.each([
  ['a folder with entries', 'd'],
  ['an empty folder', 'empty'],
  ['the root', '.'],
])('patch.C9 a move onto %s is refused', async (_, to) => {
  await using dir = await tempDir({ f: 'a\n', 'd/x': 'x\n', 'empty/': '' });
  for (const chunk of [[], ['@@', '-a', '+b']]) {
    const patch = v4a('*** Add File: new', '+n', '*** Update File: f', `*** Move to: ${to}`, ...chunk);
    await expect(apply(dir, patch)).rejects.toMatchObject({ code: 'C210', message: `${to} is not a regular file` });
  }
  expect(filesBelow(dir)).toEqual({ f: 'a\n', 'd/x': 'x\n' });
  expect(existsSync(dir.path('empty'))).toBe(true);
});

test('limits: size of the patch, of a file it reads and of a file it writes', async () => {
  await using dir = await tempDir({ big: `${'x'.repeat(300)}\n`, f: `${'y'.repeat(190)}\n` });
  const call = (patch: string) => run(applyPatch, { patch }, { base_path: dir.root, max_write_bytes: 200 });
  await expect(call(v4a('*** Add File: g', `+${'z'.repeat(300)}`))).rejects.toMatchObject({
    code: 'C213',
    message: expect.stringContaining('the patch is'),
  });
  await expect(call(v4a('*** Update File: big', '@@', '+x'))).rejects.toMatchObject({
    code: 'C213',
    message: 'big is 301 bytes; the limit is 200 (max_write_bytes)',
  });
  await expect(call(v4a('*** Update File: f', '@@', `+${'x'.repeat(20)}`))).rejects.toMatchObject({
    code: 'C213',
    message: 'f is 212 bytes; the limit is 200 (max_write_bytes)',
  });
});

test('several matches that differ only in indentation are refused', async () => {
  await using dir = await tempDir({ f: '  x\ny\n    x\n' });
  await expect(apply(dir, v4a('*** Update File: f', '@@', '-x', '+z'))).rejects.toMatchObject({
    code: 'C222',
    message:
      'chunk 1 of f fits 2 places when indentation is ignored, the first at line 1; send it as the file has it, or more lines around it',
    extra: { file: 'f', chunk: 1, places: 2 },
  });
});
