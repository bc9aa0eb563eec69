/** The published client of iii, unmodified, against the started command line. */
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { runCli, startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

const PROGRAM = fileURLToPath(new URL('../support/sdk-client.mjs', import.meta.url));

test('it calls our functions, and we call its', async () => {
  await using dir = await tempDir({ 'a.txt': 'abc', 'sub/b.txt': '' });
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
  const calls = [
    ['coder::read-file', { path: 'a.txt' }],
    ['coder::list-folder', {}],
    ['coder::read-file', { path: '../x' }],
  ];
  await using guest = await startCli([PROGRAM, cell.url, JSON.stringify(calls)], { bin: process.execPath });
  const [read, listed, refused] = guest.stdout
    .split('\n')
    .slice(0, 3)
    .map((line) => JSON.parse(line));
  expect(read).toMatchObject({ result: { path: 'a.txt', content: 'abc', is_utf8: true, size: 3 } });
  expect(listed).toMatchObject({
    result: {
      path: '.',
      entries: [
        { name: 'a.txt', kind: 'file' },
        { name: 'sub', kind: 'dir' },
      ],
      has_more: false,
    },
  });
  expect(refused).toEqual({ error: expect.stringContaining('{"code":"C215","message":"') });

  const call = (...words: string[]) => runCli(['call', ...words, '--url', cell.url]);
  const [greeted, nothing] = await Promise.all([call('guest::greet', 'name=cell'), call('guest::nothing')]);
  expect(greeted).toEqual({ code: 0, stdout: '{\n  "text": "hello cell"\n}\n', stderr: '' });
  expect(nothing).toEqual({ code: 0, stdout: 'null\n', stderr: '' });
  expect([await guest.stop(), await cell.stop()]).toEqual([0, 0]);
});
