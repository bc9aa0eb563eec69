import { expect, test } from 'vitest';

import { tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { readApps, withApps } from './app-definition.ts';
import { defaultEntries } from './config-file.ts';

const available = [coder, filesystem];

/** From the original's documentation, unchanged. */
const ORIGINAL = `modules:
  - module: filesystem
    actions: [read, write, edit, insert, ls, grep, find, mkdir, rm]
    constraints:
      paths: ["{{workspace}}"]
      max_file_size: "50MB"
`;

const read = (dir: TempDir, ...names: string[]) =>
  readApps(
    names.map((name) => dir.path(name)),
    { available, workspace: '/w', env: { DATA: '/data' } },
  );
const seen = (app: ReturnType<typeof read>[number]) =>
  app.entries.map(({ def, config, namespace }) => ({
    actions: def.functions.map(({ id }) => id.replace('filesystem::', '')).join(' '),
    config,
    ...(namespace && { namespace }),
  }));

test('an app file of the original is read unchanged', async () => {
  await using dir = await tempDir({ 'editor.yaml': ORIGINAL });
  const [app] = read(dir, 'editor.yaml');
  expect(app).toMatchObject({ name: 'editor', file: dir.path('editor.yaml') });
  expect(seen(app!)).toEqual([
    {
      actions: 'read write edit insert ls grep find mkdir rm',
      config: { paths: ['/w'], max_file_size: '50MB', fsync: true, search_timeout_ms: 20_000 },
    },
  ]);
});

test('the first app is in the default namespace, the others in that of their name', async () => {
  await using dir = await tempDir({
    'editor.yaml': ORIGINAL,
    'other.yaml': 'name: reviewer\nmodules:\n  - module: filesystem\n    actions: [read]\n',
  });
  const apps = read(dir, 'editor.yaml', 'other.yaml');
  expect(apps.map(({ name }) => name)).toEqual(['editor', 'reviewer']);
  const entries = withApps(defaultEntries(available, '/w'), apps);
  expect(entries.map(({ def, namespace }) => [def.name, def.functions.length, namespace])).toEqual([
    ['coder', 11, undefined],
    ['filesystem', 9, undefined],
    ['filesystem', 1, 'reviewer'],
  ]);
});

test('filesystem.P7 without constraints an app gets the workspace and the default size limit', async () => {
  await using dir = await tempDir({ 'a.yaml': 'modules: [{module: filesystem}]' });
  const [{ actions, config }] = seen(read(dir, 'a.yaml')[0]!) as [{ actions: string; config: unknown }];
  expect(actions.split(' ')).toHaveLength(12);
  expect(config).toEqual({ paths: ['/w'], max_file_size: '100MB', fsync: true, search_timeout_ms: 20_000 });
});

test.each([
  ['a permission', 'permissions: [fs.delete]', 'read write edit insert ls grep find mv cp mkdir file_stat'],
  ['several', 'permissions: [fs.write, fs.delete]', 'read ls grep find file_stat'],
  ['a risk', 'risk: [high]', 'read write edit insert ls grep find mv cp mkdir file_stat'],
  ['a risk and a permission', 'risk: [medium, high], permissions: [fs.list]', 'read grep find mkdir file_stat'],
])('an app may deny %s', async (_, deny, actions) => {
  await using dir = await tempDir({ 'a.yaml': `modules: [{module: filesystem}]\ndeny: {${deny}}` });
  expect(seen(read(dir, 'a.yaml')[0]!)).toMatchObject([{ actions }]);
});

test('variables and templates are replaced', async () => {
  const constraints = '{paths: ["${DATA}", "{{env.DATA}}/x", "{{workspace}}/src"], max_file_size: ${MAX:10B}}';
  await using dir = await tempDir({ 'a.yaml': `modules:\n  - module: filesystem\n    constraints: ${constraints}\n` });
  expect(seen(read(dir, 'a.yaml')[0]!)).toMatchObject([
    { config: { paths: ['/data', '/data/x', '/w/src'], max_file_size: '10B' } },
  ]);
});

test.each([
  ['no file', undefined, 'cannot read $: ENOENT'],
  ['no YAML', 'modules: [', '$: '],
  ['nothing', '', '$: missing field `modules`'],
  ['an unknown key', 'module: []', '$: unknown key "module" (did you mean "modules"?)'],
  [
    'an unknown key of a module',
    'modules: [{module: filesystem, action: []}]',
    '$.modules.0: unknown key "action" (did you mean "actions"?)',
  ],
  [
    'an unknown module',
    'modules: [{module: filesytem}]',
    '$: no module "filesytem" (did you mean "filesystem"?); there is: filesystem',
  ],
  [
    'a worker that says nothing of permissions',
    'modules: [{module: coder}]',
    '$: no module "coder"; there is: filesystem',
  ],
  [
    'an unknown action',
    'modules: [{module: filesystem, actions: [reed]}]',
    '$: filesystem: no action "reed" (did you mean "read"?)',
  ],
  [
    'an unknown constraint',
    'modules: [{module: filesystem, constraints: {path: [x]}}]',
    '$: filesystem.constraints: unknown key "path" (did you mean "paths"?)',
  ],
  [
    'a size in an unknown unit',
    'modules: [{module: filesystem, constraints: {max_file_size: 5XB}}]',
    '$: filesystem.constraints: `max_file_size`: must be bytes',
  ],
  [
    'no path at all',
    'modules: [{module: filesystem, constraints: {paths: []}}]',
    '$: filesystem.constraints: `paths`: must name a directory',
  ],
  [
    'an unknown template',
    'modules: [{module: filesystem, constraints: {paths: ["{{work}}"]}}]',
    '$: filesystem.constraints.paths: no path template "work"',
  ],
  [
    'an unknown permission',
    'modules: [{module: filesystem}]\ndeny: {permissions: [fs.delte]}',
    '$: filesystem: no permission "fs.delte" (did you mean "fs.delete"?)',
  ],
  [
    'an unknown risk',
    'modules: [{module: filesystem}]\ndeny: {risk: [huge]}',
    '$: `deny.risk[0]` must be one of "low", "medium", "high"',
  ],
  ['a module twice', 'modules: [{module: filesystem}, {module: filesystem}]', '$: module filesystem is listed twice'],
  ['an invalid name', 'name: "a b"\nmodules: []', '$: `name`: must be letters'],
])('%s is refused, with the file and the key', async (_, text, message) => {
  await using dir = await tempDir(text === undefined ? {} : { 'a.yaml': text });
  expect(() => read(dir, 'a.yaml')).toThrow(message.replace('$', dir.path('a.yaml')));
});

test('two apps cannot have one name, and only the first may be called default', async () => {
  await using dir = await tempDir({
    'a.yaml': ORIGINAL,
    'b.yaml': `name: a\n${ORIGINAL}`,
    'c.yaml': `name: default\n${ORIGINAL}`,
  });
  expect(() => read(dir, 'a.yaml', 'b.yaml')).toThrow('two apps are called "a": give one of them another `name`');
  expect(() => read(dir, 'a.yaml', 'c.yaml')).toThrow('only the first app may be called "default"');
  expect(read(dir, 'c.yaml')).toMatchObject([{ name: 'default' }]);
});
