import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker, Failure, type AnyWorker } from '#contract';
import { tempDir } from '#testing';
import { sandbox } from '#workers/sandbox';
import { defaultEntries, expandVariables, findWorker, parseEntries, readConfigFile } from './config-file.ts';

const never = () => new Failure({ code: 'X', message: 'unused' });
const worker = <Config extends z.ZodType>(
  name: string,
  config: Config,
  places: (workspace: string) => object = () => ({}),
) =>
  defineWorker({
    name,
    summary: 'For tests.',
    config,
    workspaceDefaults: (workspace) => ({ ...places(workspace) }),
    errors: defineErrors({}),
    failures: { badInput: never, internal: never, deadline: never },
    open: () => ({}),
  });

const digger = worker(
  'digger',
  z.strictObject({
    root: z.string().default('./').describe('Where.'),
    max_depth: z.int().default(4).describe('How deep.'),
    fs: z.strictObject({ host_root: z.string().default('./'), size: z.int().default(1) }).prefault({}),
  }),
  (workspace) => ({ root: workspace, fs: { host_root: workspace } }),
);
const planter = worker('planter', z.strictObject({ seeds: z.array(z.string()).default([]) }));
const available: AnyWorker[] = [digger, planter];

const read = (text: string, options: { workspace?: string; env?: NodeJS.ProcessEnv } = {}) =>
  parseEntries(text, available, { env: {}, ...options }).map(({ def, config }) => ({ name: def.name, config }));
const diggerDefaults = { root: './', max_depth: 4, fs: { host_root: './', size: 1 } };

describe('variables', () => {
  test.each([
    ['a set variable is replaced', '${A}/x', { A: 'v' }, 'v/x'],
    ['a set variable wins over its default', '${A:d}', { A: 'v' }, 'v'],
    ['a missing variable takes its default', '${A:d e}', {}, 'd e'],
    ['a default may be empty', '[${A:}]', {}, '[]'],
    ['a default may hold colons', '${A:http://h:1/}', {}, 'http://h:1/'],
    ['a variable set to nothing is nothing', '[${A:d}]', { A: '' }, '[]'],
    ['several are replaced', '${A}${B:b}${A}', { A: 'a' }, 'aba'],
    ['a value is not looked through again', '${A}', { A: '${B}' }, '${B}'],
    ['a dollar that names nothing stays', '$A ${} ${1} $$', { A: 'a' }, '$A ${} ${1} $$'],
  ])('%s', (_, text, env, expanded) => {
    expect(expandVariables(text, env)).toBe(expanded);
  });

  test('a missing variable without a default is named', () => {
    expect(() => read('workers: [{name: digger, config: {root: "${ROOT}"}}]')).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        message: 'config: environment variable ROOT is not set; write ${ROOT:default} to give one',
      }),
    );
  });
});

describe('a file', () => {
  test.each([
    [
      'gives what it says and the defaults of the rest',
      'workers:\n  - name: digger\n    config:\n      root: ${R:/r}\n      max_depth: ${D:9}\n',
      [{ name: 'digger', config: { ...diggerDefaults, root: '/r', max_depth: 9 } }],
    ],
    [
      'keeps the order of its workers',
      'workers: [{name: planter}, {name: digger}]',
      [
        { name: 'planter', config: { seeds: [] } },
        { name: 'digger', config: diggerDefaults },
      ],
    ],
    [
      'may leave a block empty',
      'workers:\n  - name: digger\n    config:\n',
      [{ name: 'digger', config: diggerDefaults }],
    ],
    ['may have no workers yet', 'workers:\n', []],
    ['may be empty', '', []],
    ['may be all comments', '# nothing\n', []],
  ])('%s', (_, text, entries) => {
    expect(read(text)).toEqual(entries);
  });

  test.each([
    [
      'an unknown top-level key',
      'wrokers: []',
      'config: unknown key "wrokers" (did you mean "workers"?); known keys: protect, state_dir, journal, access, cluster, workers',
    ],
    [
      'an unknown key beside name',
      'workers: [{name: digger, confg: {}}]',
      'config.workers.0: unknown key "confg" (did you mean "config"?); known keys: name, config',
    ],
    [
      'an unknown worker',
      'workers: [{name: diger}]',
      'workers: no worker "diger" (did you mean "digger"?); this build has: digger, planter',
    ],
    [
      'an unknown key of a worker',
      'workers: [{name: digger, config: {maxdepth: 1}}]',
      'workers.digger: unknown key "maxdepth" (did you mean "max_depth"?); known keys: root, max_depth, fs',
    ],
    [
      'an unknown key deeper down',
      'workers: [{name: digger, config: {fs: {hostroot: 1}}}]',
      'workers.digger.fs: unknown key "hostroot" (did you mean "host_root"?); known keys: host_root, size',
    ],
    [
      'a value of another type',
      'workers: [{name: digger, config: {max_depth: deep}}]',
      'workers.digger: `max_depth` must be a number (got a string)',
    ],
    [
      'a block that is a list',
      'workers: [{name: digger, config: []}]',
      'workers.digger: the payload must be an object (got an array)',
    ],
    ['a worker without a name', 'workers: [{config: {}}]', 'config: missing field `workers[0].name`'],
    ['workers that are not a list', 'workers: {digger: {}}', 'config: `workers` must be an array (got an object)'],
    ['a file that is a list', '[]', 'config: the payload must be an object (got an array)'],
    [
      'a worker listed twice',
      'workers: [{name: digger}, {name: planter}, {name: digger}]',
      'workers: digger is listed twice',
    ],
  ])('with %s is refused', (_, text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ name: 'ConfigError', message }));
  });

  test.each([
    ['broken YAML', 'workers: [{name: digger', /^config: .*flow/is],
    ['a key twice', 'workers: []\nworkers: []\n', /^config: .*unique/i],
    ['several documents', 'workers: []\n---\nworkers: []\n', /^config: .*multiple documents/i],
    [
      'a bomb of aliases',
      `n0: &n0 [x]\n${[1, 2, 3, 4, 5].map((i) => `n${i}: &n${i} [${`*n${i - 1},`.repeat(20)}]`).join('\n')}\n`,
      /^config: .*alias/i,
    ],
  ])('that is %s is refused in the words of the parser', (_, text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringMatching(message) }),
    );
  });

  test('that cannot be read is named', async () => {
    await using dir = await tempDir({ 'folder/': '' });
    expect(() => readConfigFile(dir.path('none.yaml'))).toThrow(`cannot read ${dir.root}/none.yaml: ENOENT`);
    expect(() => readConfigFile(dir.path('folder'))).toThrow(`cannot read ${dir.root}/folder: EISDIR`);
  });
});

describe('a workspace', () => {
  test('fills only what the block leaves out, at any depth', () => {
    const text = 'workers: [{name: digger, config: {max_depth: 1, fs: {size: 2}}}, {name: planter}]';
    expect(read(text, { workspace: '/w' })).toEqual([
      { name: 'digger', config: { root: '/w', max_depth: 1, fs: { host_root: '/w', size: 2 } } },
      { name: 'planter', config: { seeds: [] } },
    ]);
    expect(read('workers: [{name: digger, config: {root: /r, fs: {host_root: /h}}}]', { workspace: '/w' })).toEqual([
      { name: 'digger', config: { root: '/r', max_depth: 4, fs: { host_root: '/h', size: 1 } } },
    ]);
  });

  test('alone runs every worker', () => {
    expect(defaultEntries(available, '/w')).toEqual([
      { def: digger, config: { root: '/w', max_depth: 4, fs: { host_root: '/w', size: 1 } } },
      { def: planter, config: { seeds: [] } },
    ]);
  });
});

test.each([
  ['left out of a written block: none', 'workers: [{name: iii-sandbox, config: {default_cpus: 2}}]', []],
  ['of an empty block: none', 'workers: [{name: iii-sandbox, config: {}}]', []],
  ['of a worker without a block', 'workers: [{name: iii-sandbox}]', ['python', 'node']],
])('image_allowlist %s', (_, text, image_allowlist) => {
  expect(parseEntries(text, [sandbox])).toMatchObject([{ config: { image_allowlist } }]);
  expect(defaultEntries([sandbox], '/')).toMatchObject([{ config: { image_allowlist: ['python', 'node'] } }]);
});

test('a worker is found by its name', () => {
  expect(findWorker('planter', available)).toBe(planter);
  expect(() => findWorker('x', available)).toThrow('workers: no worker "x"; this build has: digger, planter');
});
