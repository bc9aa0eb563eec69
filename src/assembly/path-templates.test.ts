import { tmpdir } from 'node:os';

import { expect, test } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker, Failure } from '#contract';
import { tempDir } from '#testing';
import { parseEntries } from './config-file.ts';
import { isWithinReach } from './config-in-workspace.ts';
import { resolvePaths } from './path-templates.ts';

const never = () => new Failure({ code: 'X', message: 'unused' });
const def = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.unknown(),
  workspaceDefaults: (workspace) => ({ fs: { root: workspace }, paths: [workspace] }),
  errors: defineErrors({}),
  failures: { badInput: never, internal: never, deadline: never },
  open: () => ({}),
});
const resolve = (config: unknown, env: NodeJS.ProcessEnv = {}) =>
  resolvePaths(def, config, { workspace: '/w', env }, 'workers.digger');

test('replaces every variable in each key that takes a workspace path', () => {
  const paths = ['{{workspace}}', '{{ workspace }}/src', '{{home}}/x', '{{tmp}}', '{{env.DATA}}/a', '/plain', '{{{x'];
  const given = { paths, fs: { root: '{{workspace}}', note: '{{workspace}}' }, label: '{{unknown}}' };
  expect(resolve(given, { HOME: '/h', DATA: '/data' })).toEqual({
    paths: ['/w', '/w/src', '/h/x', tmpdir(), '/data/a', '/plain', '{{{x'],
    fs: { root: '/w', note: '{{workspace}}' },
    label: '{{unknown}}',
  });
  expect(resolve({ paths: null })).toEqual({ paths: null });
});

test.each([
  [
    '{{worksapce}}',
    'no path template "worksapce" (did you mean "workspace"?); there is: workspace, home, tmp, env.NAME',
  ],
  ['{{env.NOPE}}', 'environment variable NOPE is not set'],
  ['{{constructor}}', 'no path template "constructor"; there is: workspace, home, tmp, env.NAME'],
])('%s is refused, and the key is named', (path, problem) => {
  expect(() => resolve({ paths: [path] })).toThrow(`workers.digger.paths: ${problem}`);
});

test('isWithinReach() checks the resolved directories, not the templates', async () => {
  await using dir = await tempDir({ 'desk/cell.yaml': '', 'etc/cell.yaml': '' });
  const entries = parseEntries('workers: [{name: digger, config: {paths: ["{{env.DESK}}/../etc"]}}]', [def], {
    workspace: dir.path('desk'),
    env: { DESK: dir.path('desk') },
  });
  expect(isWithinReach(dir.path('etc/cell.yaml'), dir.path('nowhere'), entries)).toBe(true);
  expect(isWithinReach(dir.path('desk/cell.yaml'), dir.path('nowhere'), entries)).toBe(true);
});
