/** change::begin: where no change can be made, and the network of commands in one. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { mountLayer } from '#fence';
import { Layers } from '#host';
import { changeCell, mayMount, modesAndContents as treeOf, mount, tempDir } from '#testing';
import { translate } from '../errors.ts';

const limits = { maxOpen: 4, maxBytes: 1e9, idleMs: 1e9 };
const meta = { name: 'x', outside: 'private', network: 'host', note: '' } as const;

/** The failure of a change over a workspace, as a caller gets it. */
async function refusalOf(workspace: string, stateDir: string) {
  const layers = new Layers(workspace, { stateDir, limits, mount: mountLayer });
  try {
    const refused = layers.begin(meta).then(() => 'begun', translate);
    expect(await refused).toMatchObject({ code: 'W214' });
    expect(layers.store.names()).toEqual([]);
    return ((await refused) as Error).message;
  } finally {
    await layers.close();
  }
}

function mountOverlay(below: readonly string[], path: string): Disposable {
  mount(['-t', 'overlay', '-o', `lowerdir=${below.join(':')}`, 'overlay', path]);
  return { [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]) };
}

describe.skipIf(process.platform !== 'linux')('no change is made', () => {
  test('over / and where state_dir is in the workspace, also through a symlink', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'a', 'elsewhere/': '' });
    symlinkSync(dir.path('ws'), dir.path('link'));
    const before = treeOf(dir.root);
    expect(await refusalOf('/', dir.path('elsewhere'))).toContain('choose a project directory as workspace');
    expect(await refusalOf(dir.path('ws'), dir.path('ws/state'))).toContain('another state_dir');
    expect(await refusalOf(dir.path('ws'), dir.path('link/state/deep'))).toContain('another state_dir');
    expect(treeOf(dir.root)).toEqual(before);
  });

  test.runIf(mayMount())('over a workspace that is an overlay of an overlay (root)', async () => {
    await using dir = await tempDir({ 'a/one.txt': '1', 'b/two.txt': '2', 'c/three.txt': '3', 'state/': '' });
    const [inner, workspace] = [dir.path('inner'), dir.path('ws')];
    mkdirSync(inner);
    mkdirSync(workspace);
    using one = mountOverlay([dir.path('a'), dir.path('b')], inner);
    using two = mountOverlay([inner, dir.path('c')], workspace);
    expect([one, two]).toHaveLength(2);
    expect(await refusalOf(workspace, dir.path('state'))).toContain('`workcell doctor` has a line "changes"');
  });
});

describe.skipIf(process.platform !== 'linux')('the network of a change', () => {
  /** Starts a server in a change; the reply to a request for it from another command in that change. */
  async function answered(network: 'host' | 'none'): Promise<unknown> {
    await using cell = await changeCell({}, { outside: 'private', shell: { fence_network: 'loopback' } });
    const { change } = await cell.call<{ change: string }>('change::begin', { network });
    const listens =
      'require("node:http").createServer((_, r) => r.end("served")).listen(4180, () => console.log("listens"))';
    const job = { change, command: process.execPath, args: ['-e', listens] };
    const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', job);
    await cell.call('shell::output', { job_id, wait_ms: 60_000, until: { pattern: 'listens' } });
    return await cell.call('shell::exec', { change, script: 'curl -sS -m 20 http://127.0.0.1:4180/' });
  }

  test('`host` is that of commands without a change; with `none` each command has only its own', async () => {
    expect(await answered('host')).toMatchObject({ stdout: 'served', exit_code: 0 });
    expect(await answered('none')).toMatchObject({ stdout: '', exit_code: 7 });
  });

  test('`none` is refused for commands without the fence, which have the network of the host', async () => {
    await using cell = await changeCell({});
    const asked = { network: 'none' };
    expect(await cell.failure('change::begin', asked)).toMatchObject({ code: 'W210', fix: { outside: 'private' } });
    expect(await cell.call('change::list')).toEqual({ changes: [] });
    expect(await cell.call('change::begin', { ...asked, outside: 'private' })).toMatchObject({ outside: 'private' });
  });
});
