import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

import { availableWorkers } from '#assembly';
import { configKeys, defineErrors, defineWorker, Failure } from '#contract';
import { defaultBlock, withWorkerAdded } from './config-block.ts';

const never = () => new Failure({ code: 'X', message: 'unused' });
const digger = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.strictObject({
    root: z.string().default('./').describe('Where it digs.'),
    tools: z
      .array(z.string())
      .default(['**/*.key', 'a: b', '#c'])
      .describe(`Long ${'word '.repeat(30)}\nend.`),
    fs: z
      .object({ size: z.int().default(1), deep: z.array(z.int()).default([]) })
      .default({ size: 2, deep: [3] })
      .describe('A map.'),
    cap: z.int().nullable().default(null).describe('None by default.'),
    on: z.boolean().default(true),
  }),
  errors: defineErrors({}),
  failures: { badInput: never, internal: never, deadline: never },
  open: () => ({}),
});

const BLOCK = `- name: digger
  config:
    # Where it digs.
    root: ./
    # Long word word word word word word word word word word word word word word word word word word word
    # word word word word word word word word word word word end.
    tools:
      - "**/*.key"
      - "a: b"
      - "#c"
    # A map.
    fs:
      size: 2
      deep:
        - 3
    # None by default.
    cap: null
    on: true`;
const indented = BLOCK.replaceAll(/^/gm, '  ');

test('a block has every key below a comment that describes it', () => {
  expect(defaultBlock(digger)).toBe(BLOCK);
});

describe.each(availableWorkers.map((def) => [def.name, def] as const))('the block of %s', (name, def) => {
  test('parses back to exactly what is shipped', () => {
    const [entry] = parse(defaultBlock(def)) as [unknown];
    const defaults = def.config.parse(def.shippedBlock);
    expect(entry).toEqual({ name, config: defaults });
    expect(def.config.parse((entry as { config: unknown }).config)).toEqual(defaults);
  });

  test('explains every key in a comment of its own', () => {
    const lines = defaultBlock(def).split('\n');
    const unexplained = configKeys(def.config).filter(({ key, description }) => {
      const at = lines.findIndex((line) => line.startsWith(`    ${key}:`));
      const before = lines.slice(0, at);
      const comment = before.slice(before.findLastIndex((line) => !line.startsWith('    # ')) + 1);
      return description === '' || comment.map((line) => line.slice('    # '.length)).join(' ') !== description;
    });
    expect(unexplained).toEqual([]);
  });
});

describe('a worker is added to', () => {
  test.each([
    ['an empty file', '', `workers:\n${indented}\n`],
    ['a blank file', '\n\n', `workers:\n${indented}\n`],
    ['a file of comments', '# mine\n', `# mine\n\nworkers:\n${indented}\n`],
    ['workers without a list', 'workers: # mine\n', `workers:\n  # mine\n${indented}\n`],
    ['an empty list', 'workers: []\n', `workers:\n${indented}\n`],
    [
      'a list with comments, order and variables as they were',
      '# top\nworkers:\n  # first\n  - name: coder # why\n    config:\n      base_path: ${DIR:./} # here\n\n# end\n',
      `# top\nworkers:\n  # first\n  - name: coder # why\n    config:\n      base_path: \${DIR:./} # here\n${indented}\n\n# end\n`,
    ],
    ['a list in flow style', 'workers: [{name: coder}]\n', `workers:\n  - { name: coder }\n${indented}\n`],
    ['a file in flow style', '{workers: [{name: coder}]}\n', `workers:\n  - { name: coder }\n${indented}\n`],
  ])('%s', (_, text, changed) => {
    expect(withWorkerAdded(text, digger)).toBe(changed);
    expect(withWorkerAdded(changed, digger)).toBeUndefined();
  });

  test('a file that has the worker already is not changed, in block or flow style', () => {
    expect(withWorkerAdded('workers: [{name: coder}, {"name": digger}]', digger)).toBeUndefined();
  });

  test.each([
    ['broken YAML', 'workers: [', /^config: /],
    ['a list', '- name: coder\n', /^config: the file must hold a map with the key "workers"$/],
    ['workers that are a map', 'workers:\n  coder: {}\n', /^config: "workers" must be a list$/],
    ['workers that are text', 'workers: coder\n', /^config: "workers" must be a list$/],
  ])('no file with %s', (_, text, message) => {
    expect(() => withWorkerAdded(text, digger)).toThrow(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringMatching(message) }),
    );
  });
});
