import { expect, test } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker, Failure } from '#contract';
import { tempDir } from '#testing';
import { isWithinReach } from './config-reach.ts';

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

test('a file is within reach below the workspace and below every root that a block names', async () => {
  await using dir = await tempDir({ 'etc/cell.yaml': '', 'work/cell.yaml': '', 'workers/cell.yaml': '' });
  const [outside, work] = [dir.path('etc/cell.yaml'), dir.path('work')];
  const verdicts = {
    outside: isWithinReach(outside, work, entry({})),
    inside: isWithinReach(dir.path('work/cell.yaml'), work, []),
    'beside, by a longer name': isWithinReach(dir.path('workers/cell.yaml'), work, []),
    'below a root': isWithinReach(outside, work, entry({ root: dir.path('etc') })),
    'below a nested root': isWithinReach(outside, work, entry({ fs: { host_root: dir.root } })),
    'below one of several roots': isWithinReach(outside, work, entry({ paths: [work, dir.path('etc')] })),
    'below no root at all': isWithinReach(outside, work, entry({ root: work, fs: { host_root: work }, paths: [work] })),
    'without a fence': isWithinReach(outside, work, entry({ paths: null })),
    'below the root directory': isWithinReach(outside, '/', []),
    'below a root that is spelled otherwise': isWithinReach(outside, work, entry({ root: `${work}/../etc/` })),
    'below a root that does not exist': isWithinReach(outside, work, entry({ root: dir.path('etc/none') })),
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

test('of a link both ends count, and a linked directory is where it leads', async () => {
  await using dir = await tempDir({
    'etc/real.yaml': '',
    'etc/in.yaml': { symlink: '../work/real.yaml' },
    'etc/folder': { symlink: '../work' },
    'work/real.yaml': '',
    'work/out.yaml': { symlink: '../etc/real.yaml' },
  });
  const reach = (file: string, workspace = dir.path('work')) => isWithinReach(dir.path(file), workspace, []);
  expect([reach('work/out.yaml'), reach('etc/in.yaml'), reach('etc/folder/real.yaml'), reach('etc/real.yaml')]).toEqual(
    [true, true, true, false],
  );
  expect(reach('work/real.yaml', dir.path('etc/folder'))).toBe(true);
});
