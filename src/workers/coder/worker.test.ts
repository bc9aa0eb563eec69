import { constants } from 'node:buffer';

import { expect, test } from 'vitest';

import { ConfigError, parseConfig, silentLog } from '#contract';
import { tempDir } from '#testing';
import { configSchema } from './config.ts';
import { coder } from './index.ts';

const open = (block: object) => coder.open(parseConfig(coder.config, block, 'coder'), silentLog);

test('an empty block is the shipped configuration', () => {
  expect(parseConfig(configSchema, {}, 'coder')).toEqual({
    base_path: './',
    non_accessible_globs: [],
    max_read_bytes: 10_485_760,
    max_write_bytes: 10_485_760,
    tree_default_depth: 4,
    tree_per_folder_limit: 50,
    list_default_page_size: 100,
    list_max_page_size: 1000,
    search_default_max_matches: 1000,
    search_default_max_line_bytes: 4096,
    search_timeout_ms: 20_000,
    index: 'auto',
    index_memory_mb: 512,
    fsync: true,
  });
});

test('coder.C107 a base_path that is not there, or is a file, refuses to start and names the key', async () => {
  await using dir = await tempDir({ file: '' });
  expect(() => open({ base_path: dir.path('nope') })).toThrow(ConfigError);
  expect(() => open({ base_path: dir.path('nope') })).toThrow(`coder.base_path: ${dir.path('nope')} does not exist`);
  expect(() => open({ base_path: dir.path('file') })).toThrow(
    `coder.base_path: ${dir.path('file')} is not a directory`,
  );
});

test('a bad glob refuses to start and names key, glob and reason', () => {
  expect(() => open({ non_accessible_globs: ['ok', '{a'] })).toThrow(
    new ConfigError('coder.non_accessible_globs: bad glob "{a": a { is never closed'),
  );
});

test('what is longer than any text is never read whole', async () => {
  await using dir = await tempDir();
  const context = await open({ base_path: dir.root, max_read_bytes: 2 ** 40 });
  expect(context.maxReadBytes).toBe(constants.MAX_STRING_LENGTH);
  await coder.close(context);
});

test('the workspace is the base_path', () => {
  expect(coder.workspaceDefaults('/work')).toEqual({ base_path: '/work' });
});
