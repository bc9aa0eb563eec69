/** The files of a node's connection to NATS are not where agents write. */
import { expect, test } from 'vitest';

import { availableWorkers, parseEntries } from '#assembly';
import { ClusterSettingsSchema, type ClusterSettings } from '#cluster';
import { silentLog } from '#contract';
import { tempDir } from '#testing';
import { ClusterNode } from '../../../src/cli/cluster/cluster-node.ts';
import { runCli } from '../../../src/testing/cli.ts';

const CODE = 'cluster_file_within_reach';
const FILES = ['credsFile', 'nkeyFile', 'caFile', 'certFile', 'keyFile'] as const;

function nodeWith(files: Partial<ClusterSettings>, workspace?: string): ClusterNode {
  const settings = ClusterSettingsSchema.parse({ servers: ['nats://127.0.0.1:1'], node: 'a', ...files });
  return new ClusterNode(settings, { drainMs: 0, log: silentLog, workspace });
}

test('cluster.X50 a key, a certificate or an authority where agents write is refused; elsewhere it is taken', async () => {
  await using dir = await tempDir({
    'etc/seed': 'seed',
    'etc/link': { symlink: '../desk/seed' },
    'desk/seed': 'seed',
    'desk/link': { symlink: '../etc/seed' },
    'desk-2/seed': 'seed',
  });
  const verdict = (file: string, key: (typeof FILES)[number] = 'nkeyFile') => {
    const node = nodeWith({ [key]: dir.path(file) }, dir.path('desk'));
    const block = JSON.stringify({ workers: [{ name: 'coder', config: { base_path: dir.path('desk-2') } }] });
    try {
      return node.workers(parseEntries(block, availableWorkers)).length;
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  for (const key of FILES) expect([verdict('desk/seed', key), verdict('etc/seed', key)]).toEqual([CODE, 1]);
  // Either end of a link, and the directory of a worker that is not the workspace.
  expect([verdict('desk/link'), verdict('etc/link'), verdict('desk-2/seed')]).toEqual([CODE, CODE, CODE]);
  // Files that a changed configuration gives to a worker count as well.
  const node = nodeWith({ nkeyFile: dir.path('etc/seed') });
  const given = (path: string) =>
    parseEntries(`workers: [{ name: coder, config: { base_path: ${path} } }]`, availableWorkers);
  expect(node.workers(given(dir.path('desk')))).toHaveLength(1);
  expect(() => node.workers(given(dir.path('etc')))).toThrow(expect.objectContaining({ code: CODE }));
});

test('cluster.X50 start exits 2 and says what to do with the file', async () => {
  await using dir = await tempDir({ 'node.nk': 'seed' });
  const env = { WORKCELL_CLUSTER: 'nats://127.0.0.1:1', WORKCELL_CLUSTER_NKEY: dir.path('node.nk') };
  const { code, stderr } = await runCli(['start', '--port', '0', '--workspace', dir.root], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`[${CODE}] --cluster-nkey ${dir.path('node.nk')} lies`)]);
  expect(stderr).toContain('move the file out of the workspace');
});
