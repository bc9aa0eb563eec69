import { expect, test } from 'vitest';
import { z } from 'zod';

import { ConfigError, configKeys, parseConfig } from './config.ts';

const schema = z.strictObject({
  base_path: z.string().default('.').describe('Where files are.'),
  max_read_bytes: z.int().min(1).default(1_000),
  fs: z.strictObject({ host_root: z.string().optional(), read_only: z.boolean().default(false) }).prefault({}),
  rules: z.array(z.strictObject({ program: z.string(), decision: z.enum(['allow', 'deny']) })).default([]),
  cap: z.strictObject({ cpus: z.int().optional() }).nullable().default(null),
});

const parse = (block: unknown) => parseConfig(schema, block, 'workers.coder');

test.each([undefined, null, {}])('the block %j is all defaults', (block) => {
  expect(parse(block)).toEqual({
    base_path: '.',
    max_read_bytes: 1_000,
    fs: { read_only: false },
    rules: [],
    cap: null,
  });
});

test.each([
  [
    { base_pth: '/' },
    'workers.coder: unknown key "base_pth" (did you mean "base_path"?); known keys: base_path, max_read_bytes, fs, rules, cap',
  ],
  [{ colour: 'red' }, 'workers.coder: unknown key "colour"; known keys: base_path, max_read_bytes, fs, rules, cap'],
  [
    { fs: { hostroot: '/' } },
    'workers.coder.fs: unknown key "hostroot" (did you mean "host_root"?); known keys: host_root, read_only',
  ],
  [
    {
      rules: [
        { program: 'ls', decision: 'allow' },
        { program: 'rm', decison: 'deny' },
      ],
    },
    'workers.coder.rules.1: unknown key "decison" (did you mean "decision"?); known keys: program, decision',
  ],
  [{ cap: { cpu: 1 } }, 'workers.coder.cap: unknown key "cpu" (did you mean "cpus"?); known keys: cpus'],
  [{ max_read_bytes: 0 }, 'workers.coder: `max_read_bytes` must be at least 1 (got 0)'],
  [{ fs: { read_only: 'yes' } }, 'workers.coder: `fs.read_only` must be a boolean (got a string)'],
  [{ rules: [{ program: 'ls' }] }, 'workers.coder: missing field `rules[0].decision`'],
  ['text', 'workers.coder: the payload must be an object (got a string)'],
])('%j is refused by name', (block, message) => {
  expect(() => parse(block)).toThrow(new ConfigError(message));
});

test('an unknown key is reported before a wrong value: it is often the cause', () => {
  expect(() => parse({ max_read_bytes: 0, base_pth: '/' })).toThrow('unknown key "base_pth"');
});

test('the keys of a block are listed as they are declared', () => {
  expect(configKeys(schema)).toEqual([
    { key: 'base_path', description: 'Where files are.', default: '.' },
    { key: 'max_read_bytes', description: '', default: 1_000 },
    { key: 'fs', description: '', default: {} },
    { key: 'rules', description: '', default: [] },
    { key: 'cap', description: '', default: null },
  ]);
});
