import { expect, test } from 'vitest';

import { ConfigError, parseConfig, silentLog } from '#contract';
import { tempDir } from '#testing';
import { filesystem } from './index.ts';

const open = async (config: unknown, log = silentLog) => {
  const context = await filesystem.open(parseConfig(filesystem.config, config, 'workers.filesystem'), log);
  await filesystem.close(context);
  return context;
};

test('what is left out is not open: the current directory, and 100 MiB', async () => {
  const { jail, maxFileBytes } = await open({});
  expect([jail.roots, maxFileBytes]).toEqual([[process.cwd()], 100 * 2 ** 20]);
});

test('only null, written out, lifts the fence, and the log says so', async () => {
  const warnings: string[] = [];
  const { jail } = await open({ paths: null }, { ...silentLog, warn: (message) => void warnings.push(message) });
  expect(jail.roots).toEqual(['/']);
  expect(warnings).toEqual(['filesystem.paths is null: calls reach every file of this machine']);
});

test.each([
  [
    'a directory that is missing',
    (root: string) => ({ paths: [root, `${root}/no`] }),
    'filesystem.paths: $/no does not exist',
  ],
  ['a file', (root: string) => ({ paths: [`${root}/f`] }), 'filesystem.paths: $/f is not a directory'],
  ['no directory at all', () => ({ paths: [] }), 'workers.filesystem: `paths`: must name a directory, or be null'],
  ['a size without a number', () => ({ max_file_size: 'big' }), 'workers.filesystem: `max_file_size`: must be bytes'],
  ['an unknown key', () => ({ path: ['x'] }), 'workers.filesystem: unknown key "path" (did you mean "paths"?)'],
])('%s is refused before anything runs', async (_, config, message) => {
  await using dir = await tempDir({ f: '' });
  const opening = open(config(dir.root));
  await expect(opening).rejects.toThrow(message.replace('$', dir.root));
  await expect(opening).rejects.toBeInstanceOf(ConfigError);
});

test('every action says what it needs, what it risks and what it leaves behind', () => {
  const rows = filesystem.functions.map(({ id, effect, permissions, policy }) =>
    [
      ...[id.replace('filesystem::', ''), effect, permissions.join('+'), policy!.risk],
      ...[policy!.sideEffects.join('+') || '-', policy!.constraints.join('+')],
    ].join(' '),
  );
  expect(rows).toEqual([
    'read read fs.read low - paths+max_file_size',
    'write write fs.write medium filesystem_write paths+max_file_size',
    'edit write fs.read+fs.write medium filesystem_write paths+max_file_size',
    'insert write fs.read+fs.write medium filesystem_write paths+max_file_size',
    'ls read fs.list low - paths',
    'grep read fs.read low - paths+max_file_size',
    'find read fs.read low - paths',
    'mv write fs.read+fs.write medium filesystem_write paths',
    'cp write fs.read+fs.write medium filesystem_write paths+max_file_size',
    'rm delete fs.delete high filesystem_delete paths',
    'mkdir write fs.write low filesystem_write paths',
    'file_stat read fs.read low - paths',
  ]);
});
