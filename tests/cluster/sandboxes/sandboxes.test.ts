/** Sandboxes over several machines: placed, found by their ids, lost with their host, drained. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { isFull } from '#testing';
import { runCli } from '../../../src/testing/cli.ts';
import { IMAGE, REF, SandboxCluster, WHY_NOT, type Made, type SandboxNode } from '../support/sandbox-hosts.ts';

const V8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The processes of this host with exactly this command line. */
function pidsOf(commandLine: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === commandLine;
    } catch {
      return false;
    }
  });
}

interface ImageRow {
  name: string;
  allowed: boolean;
  cached: boolean;
}

describe.skipIf(WHY_NOT !== undefined)(`sandboxes of a cluster (${WHY_NOT ?? 'with nats-server'})`, () => {
  let cluster: SandboxCluster;
  let door: SandboxNode;
  let a: SandboxNode;
  let b: SandboxNode;

  beforeAll(async () => {
    cluster = await SandboxCluster.start();
    const config = { max_concurrent_sandboxes: 4, max_starting_sandboxes: 2 };
    // The first alone: it compiles the programs of the backend.
    a = await cluster.node('a', { config });
    const extra = {
      custom_images: { [IMAGE]: REF, extra: 'localhost/extra:1' },
      image_allowlist: [IMAGE, 'extra'],
    };
    [b, door] = await Promise.all([
      cluster.node('b', { config: { ...config, ...extra } }),
      cluster.node('door', { role: 'door' }),
    ]);
    for (const node of [door, a, b]) while ((await node.hosts()).length < 2) await sleep(50);
    const { sandbox_id } = await a.create({ node: 'a' });
    await a.call('sandbox::stop', { sandbox_id, wait: true });
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  afterEach(async () => {
    const { sandboxes } = await door.call<{ sandboxes: Made[] }>('sandbox::list');
    await Promise.all(sandboxes.map(({ sandbox_id }) => door.call('sandbox::stop', { sandbox_id, wait: true })));
    while (Object.values(await living(door)).some((count) => count > 0)) await sleep(50);
  });

  async function living(from: SandboxNode): Promise<Record<string, number>> {
    const { nodes } = await from.call<{ nodes: { name: string; sandboxes?: { living: number; starting: number } }[] }>(
      'engine::nodes::list',
    );
    const rows = nodes.flatMap(({ name, sandboxes }) =>
      sandboxes ? [[name, sandboxes.living + sandboxes.starting]] : [],
    );
    return Object.fromEntries(rows);
  }

  test('cluster.P10 sandboxes are spread over the hosts until all places are taken, and none is promised twice', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, at) => [door, a][at % 2]!.create()));
    expect(
      made
        .map(({ node }) => node)
        .toSorted()
        .join(''),
    ).toBe('aaaabbbb');
    expect(made.every(({ sandbox_id }) => V8.test(sandbox_id))).toBe(true);
    const refused = await door.failure('sandbox::create', { image: IMAGE });
    expect(refused).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('no host has room (2 hosts with 8 slots)'),
    });
    const elsewhere = await door.failure('sandbox::create', { image: IMAGE, node: 'c' });
    expect(elsewhere).toMatchObject({ code: 'S400', fix: { image: IMAGE, node: null } });
    const { sandboxes, unreachable, truncated } = await b.call<{
      sandboxes: Made[];
      unreachable: [];
      truncated: boolean;
    }>('sandbox::list');
    expect(sandboxes.map(({ sandbox_id, node }) => `${sandbox_id} ${node}`).toSorted()).toEqual(
      made.map(({ sandbox_id, node }) => `${sandbox_id} ${node}`).toSorted(),
    );
    expect([unreachable, truncated]).toEqual([[], false]);
    const two = await door.call<{ sandboxes: Made[]; truncated: boolean }>('sandbox::list', { node: 'a', limit: 2 });
    expect([two.sandboxes.map(({ node }) => node), two.truncated]).toEqual([['a', 'a'], true]);
  });

  test('cluster.P11 every later call goes to the owner: commands, files, jobs and shell through any node', async () => {
    const { sandbox_id } = await door.create({ node: 'b' });
    expect(await a.exec(sandbox_id, 'sh', '-c', 'echo one > /tmp/f; cat /image-file')).toBe('from the image\n');
    expect(await door.exec(`{${sandbox_id.toUpperCase()}}`, 'cat', '/tmp/f')).toBe('one\n');
    const { entries } = await a.call<{ entries: { name: string }[] }>('sandbox::fs::ls', { sandbox_id, path: '/tmp' });
    expect(entries.map(({ name }) => name)).toContain('f');
    const target = { kind: 'sandbox', sandbox_id };
    expect(await a.call('shell::exec', { command: 'cat', args: ['/tmp/f'], target })).toMatchObject({
      stdout: 'one\n',
    });

    const { job_id } = await a.call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id, argv: ['sleep', '60'] });
    expect(job_id.slice(0, 13)).toBe(`job-${sandbox_id.slice(0, 8)}-`);
    const { jobs } = await door.call<{ jobs: { id: string; node: string }[] }>('sandbox::jobs');
    expect(jobs).toMatchObject([{ id: job_id, node: 'b' }]);
    expect(await door.call('sandbox::kill', { job_id })).toMatchObject({ killed: true });

    const started = await a.call<{ job_id: string }>('shell::exec_bg', { command: 'sleep', args: ['60'], target });
    await expect.poll(() => running(sandbox_id)).toBe(1);
    expect(await a.call('shell::kill', { job_id: started.job_id })).toMatchObject({ killed: true });
    await expect.poll(() => running(sandbox_id)).toBe(0);
    expect(await door.call('sandbox::stop', { sandbox_id, wait: true })).toMatchObject({ stopped: true });
    expect(await a.failure('sandbox::exec', { sandbox_id, cmd: 'true' })).toMatchObject({ code: 'S004' });
  });

  async function running(id: string): Promise<number> {
    const { sandboxes } = await door.call<{ sandboxes: { sandbox_id: string; exec_in_flight: number }[] }>(
      'sandbox::list',
    );
    return sandboxes.find(({ sandbox_id }) => sandbox_id === id)!.exec_in_flight;
  }

  test('sandbox::run is placed too, reports its output as events, and leaves nothing', async () => {
    const events: unknown[] = [];
    const code = 'echo ran; cat /image-file';
    const reply = await door.bus.call(
      'sandbox::run',
      { image: IMAGE, lang: 'shell', code, node: 'b' },
      { onEvent: (event) => void events.push(event), timeoutMs: 60_000 },
    );
    expect(reply).toMatchObject({ stdout: 'ran\nfrom the image\n', node: 'b' });
    expect(JSON.stringify(events)).toContain('ran');
    expect(await living(b)).toMatchObject({ a: 0, b: 0 });
  });

  test('a file of some MiB goes into a sandbox elsewhere and comes back whole', async () => {
    const { sandbox_id } = await door.create({ node: 'b' });
    const bytes = Buffer.alloc(3_000_000, 'x');
    const { reader, writer } = await door.bus.createChannel();
    const write = door.call('sandbox::fs::write', { sandbox_id, path: '/tmp/big', content: reader });
    const end = await door.bus.openWriter(writer);
    await end.write(bytes);
    await end.end();
    expect(await write).toMatchObject({ bytes_written: bytes.length });
    const { content } = await door.call<{ content: Parameters<typeof door.bus.openReader>[0] }>('sandbox::fs::read', {
      sandbox_id,
      path: '/tmp/big',
    });
    let read = 0;
    for await (const item of await door.bus.openReader({ ...content, direction: 'read' })) read += item.length;
    expect(read).toBe(bytes.length);
  });

  test('cluster.P12 a draining host gets no new sandbox, keeps those it has, and takes new ones when it is resumed', async () => {
    const kept = await door.create({ node: 'a' });
    const drained = await runCli(['nodes', 'drain', 'a', '--url', door.cli.url]);
    expect([drained.code, drained.stdout]).toEqual([0, 'a is draining, with 1 sandbox\n']);
    await expect.poll(() => door.hosts()).toContain('a draining');
    expect((await fetch(`${a.cli.http}/readyz`)).status).toBe(503);
    const made = await Promise.all(Array.from({ length: 4 }, () => door.create()));
    expect(made.map(({ node }) => node).join('')).toBe('bbbb');
    expect(await door.failure('sandbox::create', { image: IMAGE })).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('(2 hosts with 8 slots, 1 of them draining)'),
    });
    expect(await door.failure('sandbox::create', { image: IMAGE }, 'a')).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('host a is draining'),
    });
    expect(await door.exec(kept.sandbox_id, 'echo', 'alive')).toBe('alive\n');
    const { stdout } = await runCli(['nodes', '--url', door.cli.url]);
    expect(stdout).toMatch(/^a +draining .* 1\/4 /m);
    expect((await runCli(['nodes', 'drain', 'x', '--url', door.cli.url])).stderr).toContain(
      'no node "x" is in this cluster',
    );
    const resumed = await runCli(['nodes', 'resume', 'a', '--url', door.cli.url]);
    expect(resumed.stdout).toBe('a is up, with 1 sandbox\n');
    await expect.poll(() => door.hosts()).toContain('a up');
    expect(await door.create()).toMatchObject({ node: 'a' });
  });

  test('cluster.P13 SIGTERM waits for the sandboxes of a host to end, then it leaves and its ids are not found', async () => {
    const c = await cluster.node('c', { words: ['--drain-timeout', '60', '--share', 'iii-sandbox,shell'] });
    await expect.poll(() => door.hosts()).toContain('c up');
    const { sandbox_id } = await door.create({ node: 'c' });
    c.cli.child.kill('SIGTERM');
    await expect.poll(() => door.hosts()).toContain('c draining');
    expect(await door.exec(sandbox_id, 'echo', 'alive')).toBe('alive\n');
    // Ends with its caller only, so the node does not wait for it.
    const watching = door.bus.call('sandbox::watch', {}, { namespace: 'c', onEvent: () => {}, timeoutMs: 3_600_000 });
    watching.catch(() => {});
    // Runs until the test kills it, after the sandbox is gone: the node stays until no other call runs there.
    const seconds = `3600.${process.pid}`;
    const late = door.call('shell::exec', { command: 'sleep', args: [seconds], timeout_ms: 60_000 }, 'c');
    late.catch(() => {});
    await expect.poll(() => pidsOf(`sleep\0${seconds}\0`)).not.toEqual([]);
    await door.call('sandbox::stop', { sandbox_id, wait: true });
    await c.cli.logged('waits for calls of other nodes to end');
    for (const pid of pidsOf(`sleep\0${seconds}\0`)) process.kill(pid, 'SIGKILL');
    expect(await late).toMatchObject({ exit_code: null, timed_out: false });
    expect(await c.cli.exited()).toBe(0);
    await expect
      .poll(() => door.failure('sandbox::exec', { sandbox_id, cmd: 'true' }))
      .toMatchObject({
        code: 'S002',
        message: `sandbox not found: ${sandbox_id} (its host c left)`,
      });
  });

  test('cluster.P14 a killed host: its running and later calls are S300, after its restart S002; other sandboxes live on', async () => {
    const d = await cluster.node('d');
    await expect.poll(() => door.hosts()).toContain('d up');
    const [{ sandbox_id }, other] = await Promise.all([door.create({ node: 'd' }), door.create({ node: 'b' })]);
    const { job_id } = await door.call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id, argv: ['sleep', '60'] });
    const exec = door.failure('sandbox::exec', { sandbox_id, argv: ['sleep', '60'] });
    const code = 'touch /tmp/ran; sleep 60';
    const run = door.failure('sandbox::run', { image: IMAGE, lang: 'shell', code, node: 'd' });
    await expect.poll(() => living(door)).toMatchObject({ d: 2 });
    d.cli.child.kill('SIGKILL');
    const lost = { code: 'S300', message: 'host d was lost while the call ran' };
    expect(await exec).toMatchObject({ ...lost, fix_note: expect.stringContaining('sandbox::create') });
    expect(await run).toMatchObject(lost);
    expect(await door.failure('sandbox::exec', { sandbox_id, cmd: 'true' })).toMatchObject({
      code: 'S300',
      message: 'host d is not reachable',
      fix_note: expect.stringContaining('may come back'),
    });
    expect(await door.exec(other.sandbox_id, 'echo', 'alive')).toBe('alive\n');
    await cluster.node('d');
    await expect
      .poll(() => door.failure('sandbox::exec', { sandbox_id, cmd: 'true' }))
      .toMatchObject({
        code: 'S002',
        message: `sandbox not found: ${sandbox_id} (its host d restarted)`,
      });
    expect(await door.failure('sandbox::status', { job_id })).toMatchObject({
      code: 'S220',
      message: `no such job: ${job_id} (its host d restarted)`,
    });
    expect((await door.call<{ sandboxes: Made[] }>('sandbox::list')).sandboxes).toHaveLength(1);
  });

  /** The row of an image in the list of one host, or in that of all. */
  async function imageRow(image: string, host?: string): Promise<{ allowed: boolean; cached: boolean } | undefined> {
    const { images } = await door.call<{ images: ImageRow[] }>('sandbox::catalog::list', {}, host);
    const rows = images.filter(({ name }) => name === image);
    expect(rows.length).toBeLessThan(2);
    return rows[0] && { allowed: rows[0].allowed, cached: rows[0].cached };
  }

  test('cluster.P40 the images of all hosts are one list: each is allowed or cached if it is on any of them', async () => {
    expect(await Promise.all(['a', 'b', undefined].map((host) => imageRow('extra', host)))).toEqual([
      undefined,
      { allowed: true, cached: false },
      { allowed: true, cached: false },
    ]);
  });

  test('cluster.P15 an image that no registry has is copied from a host that has it, two at once, and another one is refused', async () => {
    await cluster.node('bare', { isBare: true });
    await expect.poll(() => door.hosts()).toContain('bare up');
    const send = () => door.call<{ digest: string }>('sandbox::image::export', { image: IMAGE }, 'a');
    const digest = `sha256:${'0'.repeat(64)}`;
    const [sent, waiting] = await Promise.all([send(), send()]);
    expect(await door.failure('sandbox::image::export', { image: IMAGE }, 'a')).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('2 images are being sent to other machines already'),
    });
    const other = { ...sent, image: IMAGE, digest };
    expect(await door.failure('sandbox::image::import', other, 'bare')).toMatchObject({
      code: 'S102',
      message: expect.stringContaining(`the archive holds ${sent.digest}, not ${digest}`),
    });
    expect(await imageRow(IMAGE, 'bare')).toEqual({ allowed: true, cached: false });
    expect(await imageRow(IMAGE)).toEqual({ allowed: true, cached: true });
    // Only one of two sends is still open.
    const { sandbox_id } = await door.create({ node: 'bare' });
    expect(await door.exec(sandbox_id, 'cat', '/image-file')).toBe('from the image\n');
    expect(await imageRow(IMAGE, 'bare')).toEqual({ allowed: true, cached: true });
    expect(await door.call('sandbox::image::import', { ...waiting, image: IMAGE }, 'bare')).toMatchObject({
      digest: waiting.digest,
    });
  });

  test('cluster.P41 a killed door: its sandboxes live on, are found by their ids through another, and its calls end', async () => {
    const other = await cluster.node('other', { role: 'door' });
    await expect.poll(() => other.hosts()).toContain('b up');
    const { sandbox_id } = await other.create({ node: 'b' });
    expect(await other.exec(sandbox_id, 'sh', '-c', 'echo kept > /tmp/f; cat /tmp/f')).toBe('kept\n');
    other.call('sandbox::exec', { sandbox_id, argv: ['sleep', '600'] }).catch(() => {});
    await expect.poll(() => running(sandbox_id)).toBe(1);
    other.cli.child.kill('SIGKILL');
    expect(await door.exec(sandbox_id, 'cat', '/tmp/f')).toBe('kept\n');
    const { sandboxes } = await a.call<{ sandboxes: Made[] }>('sandbox::list');
    expect(sandboxes).toMatchObject([{ sandbox_id, node: 'b' }]);
    if (isFull) await expect.poll(() => running(sandbox_id)).toBe(0);
  });
});
