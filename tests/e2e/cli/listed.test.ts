/**
 * What the command line prints of everything there is: it changes with each new command, worker, key and check, so it is
 * tested in every run, and the long tests of the same commands in the full one.
 */
import { expect, test, vi } from 'vitest';

import { commandNames } from '../../../src/cli/commands/index.ts';
import { runCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000 });

test('the help lists all commands, and those of a group', async () => {
  const [none, help, group] = await Promise.all([runCli([]), runCli(['--help']), runCli(['worker', '--help'])]);
  expect(none).toEqual(help);
  expect(none).toMatchObject({ code: 0, stderr: '' });
  const names = none.stdout.split('\n').flatMap((line) => /^ {2}(\w+( \w+)?) {2}/.exec(line)?.[1] ?? []);
  expect(names).toEqual(commandNames);
  expect(group).toMatchObject({ code: 0, stderr: '' });
  expect(group.stdout).toMatch(/\n {2}worker run .*\n {2}worker add /);
});

test('config print shows a file with its defaults filled in, or what is wrong with it', async () => {
  await using files = await tempDir({
    'a.yaml': 'cluster: {node: a-1, max_sandboxes: 9}\nworkers: [{name: coder, config: {max_read_bytes: ${MAX:7}}}]',
    'b.yaml': 'x: 1',
  });
  const print = (file: string) => runCli(['config', 'print', '--json', '-c', files.path(file)], { env: { MAX: '8' } });
  const [good, bad, none] = await Promise.all([print('a.yaml'), print('b.yaml'), print('c.yaml')]);
  expect(JSON.parse(good.stdout)).toMatchObject({
    cluster: { servers: [], node: 'a-1', share: ['iii-sandbox'], max_sandboxes: 9 },
    workers: [{ name: 'coder', config: { max_read_bytes: 8, base_path: './' } }],
  });
  expect(bad).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Error: config: unknown key "x"; known keys: protect, state_dir, journal, access, cluster, workers\n',
  });
  expect(none).toEqual({ code: 2, stdout: '', stderr: `Error: cannot read ${files.path('c.yaml')}: ENOENT\n` });
});

test('cli.C09 mcp --tools refuses a name that is unlike all others with the workers there are', async () => {
  await using dir = await tempDir();
  const { code, stdout, stderr } = await runCli(['mcp', '--workspace', dir.root, '--tools', 'nosuch']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(
    'Error: [unknown_tool] --tools has "nosuch", which names nothing; ' +
      'give workers (agent, change, coder, filesystem, sandbox, shell), ',
  );
});

test.skipIf(process.platform !== 'linux')(
  'doctor has a row for each check, on a host that lacks everything',
  async () => {
    await using dir = await tempDir({ 'nowhere/': '' });
    const workers = [{ name: 'iii-sandbox', config: { cache_dir: dir.path('cache') } }];
    dir.add({ 'bare.yaml': JSON.stringify({ workers }) });
    const { code, stdout, stderr } = await runCli(['doctor', '--json', '-c', dir.path('bare.yaml')], {
      env: { PATH: dir.path('nowhere') },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as { check: string }[]).map(({ check }) => check)).toEqual([
      ...['node', 'platform', 'path jail', 'edits', 'jobs', 'fence', 'changes', 'search', 'engine'],
      ...['cluster', 'sandboxes'],
      ...['qemu+kvm', 'gvisor', 'qemu+tcg', 'namespaces'],
      ...['images', 'limits', 'user namespaces', 'packages', 'image cache'],
    ]);
  },
);
