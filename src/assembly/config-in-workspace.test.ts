import { expect, test } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker, Failure } from '#contract';
import { tempDir } from '#testing';
import { isWithinReach } from './config-in-workspace.ts';

const never = () => new Failure({ code: 'X', message: 'unused' });
const def = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.unknown(),
  workspaceDefaults: (workspace) => ({ root: workspace, fs: { host_root: workspace }, paths: [workspace] }),
  errors: defineErrors({}),
  failures: { badInput: never, internal: never, deadline: never },
  open: () => ({}),
});
const entry = (config: unknown) => [{ def, config }];

test('a file is within reach below the workspace and below every root in a worker block', async () => {
  await using dir = await tempDir({ 'etc/cell.yaml': '', 'desk/cell.yaml': '', 'desks/cell.yaml': '' });
  const [outside, desk] = [dir.path('etc/cell.yaml'), dir.path('desk')];
  const verdicts = {
    outside: isWithinReach(outside, desk, entry({})),
    inside: isWithinReach(dir.path('desk/cell.yaml'), desk, []),
    'beside, by a longer name': isWithinReach(dir.path('desks/cell.yaml'), desk, []),
    'below a root': isWithinReach(outside, desk, entry({ root: dir.path('etc') })),
    'below a nested root': isWithinReach(outside, desk, entry({ fs: { host_root: dir.root } })),
    'below one of several roots': isWithinReach(outside, desk, entry({ paths: [desk, dir.path('etc')] })),
    'below no root at all': isWithinReach(outside, desk, entry({ root: desk, fs: { host_root: desk }, paths: [desk] })),
    'without a fence': isWithinReach(outside, desk, entry({ paths: null })),
    'below the root directory': isWithinReach(outside, '/', []),
    'below a root that is spelled otherwise': isWithinReach(outside, desk, entry({ root: `${desk}/../etc/` })),
    'below a root that does not exist': isWithinReach(outside, desk, entry({ root: dir.path('etc/none') })),
  };
  expect(verdicts).toEqual({
    outside: false,
    inside: true,
    'beside, by a longer name': false,
    'below a root': true,
    'below a nested root': true,
    'below one of several roots': true,
    'below no root at all': false,
    'without a fence': true,
    'below the root directory': true,
    'below a root that is spelled otherwise': true,
    'below a root that does not exist': false,
  });
});

test('a symlink is within reach if it or its target is; directories are resolved', async () => {
  await using dir = await tempDir({
    'etc/real.yaml': '',
    'etc/in.yaml': { symlink: '../desk/real.yaml' },
    'etc/folder': { symlink: '../desk' },
    'desk/real.yaml': '',
    'desk/out.yaml': { symlink: '../etc/real.yaml' },
  });
  const reach = (file: string, workspace = dir.path('desk')) => isWithinReach(dir.path(file), workspace, []);
  expect([reach('desk/out.yaml'), reach('etc/in.yaml'), reach('etc/folder/real.yaml'), reach('etc/real.yaml')]).toEqual(
    [true, true, true, false],
  );
  expect(reach('desk/real.yaml', dir.path('etc/folder'))).toBe(true);
});
