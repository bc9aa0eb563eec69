/** Users of NATS as `workcell cluster config` makes them, and nodes that start with their seeds. */
import { readFileSync, statSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { makeUsers } from '#cluster';
import { runCli, startCli } from '../../src/testing/cli.ts';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { isFull } from '../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../src/testing/temp-dir.ts';

const A = [{ name: 'a', isDoor: true }];

const config = (dir: TempDir, ...words: string[]) => runCli(['cluster', 'config', ...words], { cwd: dir.root });
const seedOf = (dir: TempDir, file: string) => readFileSync(dir.path(file), 'utf8');

describe('workcell cluster config', () => {
  test('cluster.P50 prints the users, and writes a seed that only its owner reads for each node', async () => {
    await using dir = await tempDir({ 'seeds/': '' });
    const made = await config(dir, '--nodes', 'a,b', '--doors', 'a', '--out', 'seeds');
    expect([made.code, made.stderr]).toEqual([0, '']);
    const seeds = ['seeds/a.nk', 'seeds/b.nk'];
    expect(seeds.map((file) => (statSync(dir.path(file)).mode & 0o777).toString(8))).toEqual(['600', '600']);
    for (const file of seeds) {
      expect(seedOf(dir, file)).toMatch(/^SU[A-Z2-7]{56}\n$/);
      expect(made.stdout).not.toContain(seedOf(dir, file).trim());
    }
    expect(made.stdout).toMatch(/# a: door and host\n *{ nkey: U[^]*# b: host\n *{ nkey: U/);
  });

  test('cluster.P50 with a seed that exists nothing is written', async () => {
    await using dir = await tempDir({ 'seeds/a.nk': 'in use\n' });
    const { code, stdout, stderr } = await config(dir, '--nodes', 'new,a', '--out', 'seeds');
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringContaining(`${dir.path('seeds/a.nk')} exists and may`),
    ]);
    expect(seedOf(dir, 'seeds/a.nk')).toBe('in use\n');
    expect(() => statSync(dir.path('seeds/new.nk'))).toThrow('ENOENT');
  });

  test.runIf(isFull).each([
    [['--nodes', 'a,b', '--doors', 'a,c'], '--doors names c, which is not in --nodes'],
    [['--nodes', 'a,b,a'], '--nodes names a twice'],
    [[], 'cluster config needs --nodes'],
    [['--nodes', 'Not-A-Label'], 'must be a DNS label'],
  ])('%j is refused, and nothing is written', async (words, message) => {
    await using dir = await tempDir({});
    const { code, stdout, stderr } = await config(dir, ...words, '--out', 'seeds');
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(() => statSync(dir.path('seeds'))).toThrow('ENOENT');
  });
});

describe.skipIf(NO_NATS)('start with a seed (needs nats-server)', () => {
  test('cluster.P51 a key that the server does not know is refused with exit 2', async () => {
    const [known, unknown] = await Promise.all([makeUsers('default', A), makeUsers('default', A)]);
    const files = { 'known.nk': known.seeds.get('a')!, 'unknown.nk': unknown.seeds.get('a')! };
    await using dir = await tempDir({ ...files, 'work/': '' });
    await using nats = await NatsServers.start({ extra: known.block });
    const words = ['start', '--port', '0', '--workspace', dir.path('work')];
    const joining = ['--cluster', nats.urls[0]!, '--node', 'a', '--cluster-nkey'];
    const { code, stderr } = await runCli([...words, ...joining, dir.path('unknown.nk')]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/the NATS server refuses this node: .*check --cluster-creds/),
    ]);
    if (!isFull) return;
    await using node = await startCli([...words, ...joining, dir.path('known.nk')]);
    expect(node.stdout).toMatch(/^ {2}cluster {4}default as a \(1 node\)$/m);
  });

  test.runIf(isFull)('cluster.P51 without a server start continues by itself, and joins when one answers', async () => {
    await using dir = await tempDir({ 'a.txt': 'here' });
    await using nats = await NatsServers.start();
    await nats.kill(0);
    const joining = ['--cluster', nats.urls[0]!, '--node', 'a'];
    await using node = await startCli(['start', '--port', '0', '--workspace', dir.root, ...joining]);
    expect(node.stdout).toMatch(/^ {2}cluster {4}default as a \(cut off: no NATS server answers\)$/m);
    expect(node.stderr).toContain('no NATS server answers yet; retrying');
    expect((await fetch(`${node.http}/readyz`)).status).toBe(503);
    const { stdout } = await runCli(['call', 'coder::read-file', 'path=a.txt', '--url', node.url]);
    expect(stdout).toContain('here');
    await nats.restart(0);
    await expect.poll(async () => (await fetch(`${node.http}/readyz`)).status).toBe(200);
  });
});
