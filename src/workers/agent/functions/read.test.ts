import { expect, test } from 'vitest';

import { agentCell } from '#testing';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`);

test('agent.C1 several files and parts of files in one call, by relative and absolute paths', async () => {
  await using cell = await agentCell({ 'src/a.txt': 'one\ntwo\nthree\n', 'b.txt': 'x\n' });
  const paths = ['src/a.txt:2-3', cell.dir.path('b.txt'), './src/a.txt:1', 'src/a.txt:3-'];
  expect(await cell.text('read', { paths })).toBe(
    [
      'src/a.txt 2-3 of 3\n2\ttwo\n3\tthree',
      'b.txt\n1\tx',
      'src/a.txt 1-1 of 3\n1\tone',
      'src/a.txt 3-3 of 3\n3\tthree',
    ].join('\n\n'),
  );
});

test('agent.C1 a file that cannot be read does not hide the others, and the nearest path is named', async () => {
  await using cell = await agentCell({ 'src/config.ts': 'x\n', '.env': 'SECRET=1\n', 'a.bin': Buffer.from([1, 0, 2]) });
  const text = await cell.text('read', { paths: ['src/confg.ts', 'src/config.ts', '.env', 'a.bin'] });
  expect(text).toContain('src/confg.ts: not read: A211');
  expect(text).toContain('did you mean src/config.ts?');
  expect(text).toContain('src/config.ts\n1\tx');
  expect(text).toContain('a.bin: not read: A210: a.bin is binary');
  expect(text).not.toContain('SECRET');
  expect(await cell.text('read', { paths: ['/etc/passwd'] })).toMatch(/^A215: \/etc\/passwd is outside the workspace/);
  expect(await cell.text('read', { paths: ['../x'] })).toMatch(/^A215/);
});

test('agent.C1 a cut reply ends with where to continue, and a named part may be longer', async () => {
  await using cell = await agentCell({ 'a.txt': `${lines(1, 5000).join('\n')}\n` });
  const whole = await cell.text('read', { paths: ['a.txt'] });
  const [, next = ''] = /… continues at a\.txt:(\d+)-5000$/.exec(whole) ?? [];
  expect(whole.length).toBeLessThan(20_000);
  expect(whole.split('\n').at(-2)).toBe(`${Number(next) - 1}\tline ${Number(next) - 1}`);
  const part = await cell.text('read', { paths: ['a.txt:1001-3000'] });
  expect(part.split('\n').slice(1, -1)).toEqual(
    lines(1001, 3000)
      .map((line, i) => `${1001 + i}\t${line}`)
      .slice(0, -1),
  );
});

test('agent.C2 an image comes back as an image', async () => {
  await using cell = await agentCell({ 'chart.png': PNG });
  const { text, reply } = await cell.call('read', { paths: ['chart.png'] });
  expect(text).toBe('chart.png: image');
  expect(reply).toEqual({
    files: [{ path: 'chart.png', image: { mime_type: 'image/png', base64: PNG.toString('base64') } }],
  });
});

test('agent.C3 an unknown field is refused with the nearest known one', async () => {
  await using cell = await agentCell({ 'a.txt': 'x\n' });
  expect(await cell.text('read', { file_path: 'a.txt' })).toMatch(
    /^A210: unknown field `file_path` \(did you mean `paths`\?\)/,
  );
  expect(await cell.text('search', { query: 'x' })).toContain('did you mean `pattern`?');
  expect(await cell.text('edit', { edits: [{ path: 'a.txt', old_string: 'x', new_string: 'y' }] })).toContain(
    'did you mean `old`?',
  );
});
