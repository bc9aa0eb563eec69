/** Sandboxes as a person uses them: the command line, a running engine, and its SIGKILL. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connect } from '#client';
import { silentLog, throughDoor } from '#contract';
import { CliProcess, runCli, startCli } from '../../../src/testing/cli.ts';
import { isFull } from '../../../src/testing/rounds.ts';
import { IMAGE_PATIENCE_MS, sandboxConfig, TEST_BACKEND, whyNoSandbox } from '../../../src/testing/sandbox-cases.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: IMAGE_PATIENCE_MS });

const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`workcell sandbox${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  const start = () => startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
  beforeAll(async () => {
    dir = await tempDir({ 'ws/': '' });
    const workers = [
      { name: 'iii-sandbox', config: sandboxConfig() },
      { name: 'shell', config: { allowlist: [], fs: { host_root: dir.path('ws') } } },
    ];
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ workers }));
    cell = await start();
  });
  afterAll(async () => {
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  const workcell = (...words: string[]) => runCli(words, { env: { III_URL: cell.url } });
  const create = async () => (await workcell('sandbox', 'create', 'python')).stdout.trim();

  test('run gives output and exit code, and leaves nothing', async () => {
    expect(await workcell('sandbox', 'run', 'python', '--', 'python3', '-c', 'print(6 * 7)')).toEqual({
      code: 0,
      stdout: '42\n',
      stderr: '',
    });
    const failing = await workcell(
      'worker',
      'sandbox',
      'run',
      'python',
      '-e',
      'A=b',
      '--',
      'sh',
      '-c',
      'echo $A >&2; exit 3',
    );
    expect(failing).toEqual({ code: 3, stdout: '', stderr: 'b\n' });
    expect((await workcell('sandbox', 'list')).stdout.trim().split('\n')).toHaveLength(1);
  });

  test.runIf(isFull)('output beyond the cap of a reply is printed whole', async () => {
    const words = ['head -c 1500000 /dev/zero | tr "\\0" a', 'head -c 1500000 /dev/zero | tr "\\0" a >&2'];
    const [out, err] = await Promise.all(
      words.map((line) => workcell('sandbox', 'run', 'python', '--', 'sh', '-c', line)),
    );
    expect([out!.code, out!.stdout.length, out!.stderr]).toEqual([0, 1_500_000, '']);
    expect([err!.code, err!.stdout, err!.stderr.length]).toEqual([0, '', 1_500_000]);
  });

  test.runIf(isFull)('a timeout exits 124 with what was written so far', async () => {
    const late = await workcell(
      'sandbox',
      'run',
      'python',
      '--timeout',
      '500ms',
      '--',
      'sh',
      '-c',
      'echo early; sleep 60',
    );
    expect(late).toMatchObject({ code: 124, stdout: 'early\n', stderr: expect.stringContaining('Error: [S200] ') });
  });

  test('a shell line in quotes is refused with what runs it', async () => {
    const line = ['sandbox', 'run', 'python', '--', 'echo a | wc -l'];
    expect(await workcell(...line)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('run "sh" with ["-c", LINE]'),
    });
  });

  test('create, exec, list, stop', async () => {
    const id = await create();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await workcell('sandbox', 'exec', id, '--', 'id', '-u')).toMatchObject({ code: 0, stdout: '0\n' });
    expect((await workcell('sandbox', 'list')).stdout).toContain(`${id}  python`);
    expect(JSON.parse((await workcell('sandbox', 'list', '--json')).stdout)).toMatchObject({
      sandboxes: [{ sandbox_id: id }],
    });
    expect(await workcell('sandbox', 'stop', id)).toMatchObject({ code: 0, stdout: `stopped ${id}\n` });
    expect(await workcell('sandbox', 'stop', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('[S004]') });
  });

  test.runIf(isFull)('names, the beginning of an id and several sandboxes', async () => {
    const created = await Promise.all(
      ['lab', 'twin', 'twin'].map((name) => workcell('sandbox', 'create', 'python', '--name', name)),
    );
    const [lab, ...twins] = created.map(({ stdout }) => stdout.trim());
    const hostname = ['--', 'sh', '-c', 'echo $0 here', 'out'];
    expect(await workcell('sandbox', 'exec', 'lab', ...hostname)).toMatchObject({ code: 0, stdout: 'out here\n' });
    expect(await workcell('sandbox', 'exec', 'lab', twins[0]!.slice(0, 18), ...hostname)).toMatchObject({
      code: 0,
      stdout: `==> ${lab} <==\nout here\n==> ${twins[0]} <==\nout here\n`,
    });
    const ambiguous = await workcell('sandbox', 'stop', 'lab', 'twin');
    expect(ambiguous).toMatchObject({ code: 2, stderr: expect.stringContaining('"twin" matches 2 sandboxes') });
    for (const id of twins) expect(ambiguous.stderr).toContain(`  ${id}  twin`);

    writeFileSync(dir.path('note'), 'note');
    expect(await workcell('sandbox', 'upload', 'lab', ...twins, dir.path('note'), '/tmp/note')).toMatchObject({
      code: 0,
      stdout: [lab, ...twins].map((id) => `uploaded 4 bytes to ${id}:/tmp/note\n`).join(''),
    });
    expect(await workcell('sandbox', 'download', 'lab', ...twins, '/tmp/note', dir.path('notes'))).toMatchObject({
      code: 0,
    });
    for (const id of [lab, ...twins]) expect(readFileSync(dir.path(`notes/${id}/note`), 'utf8')).toBe('note');

    // A sandbox that is gone does not stop the others.
    await workcell('sandbox', 'stop', twins[0]!);
    expect(await workcell('sandbox', 'stop', twins[0]!, 'lab', 'twin')).toMatchObject({
      code: 1,
      stdout: `stopped ${lab}\nstopped ${twins[1]}\n`,
      stderr: expect.stringContaining('[S004]'),
    });
  });

  test('Ctrl-C on run stops the sandbox', async () => {
    const words = ['sandbox', 'run', 'python', '--', 'sleep', '555'];
    await using running = new CliProcess(words, { env: { III_URL: cell.url } });
    const living = async () => {
      const { stdout } = await workcell('sandbox', 'list', '--json');
      return (JSON.parse(stdout) as { sandboxes: { exec_in_flight: number }[] }).sandboxes.map(
        (one) => one.exec_in_flight,
      );
    };
    await expect.poll(living).toEqual([1]);
    expect(await running.stop('SIGINT')).toBe(130);
    expect(running.stderr).toBe('stopped\n');
    expect(await living()).toEqual([]);
  });

  test.runIf(isFull)('a directory goes up and comes down', async () => {
    const id = await create();
    mkdirSync(dir.path('tree/sub'), { recursive: true });
    writeFileSync(dir.path('tree/sub/a.txt'), 'a');
    expect(await workcell('sandbox', 'upload', id, dir.path('tree'), '/data/tree')).toMatchObject({ code: 0 });
    await workcell('sandbox', 'exec', id, '--', 'ln', '-s', '/etc/passwd', '/data/tree/evil');
    expect(await workcell('sandbox', 'download', id, '/data/tree', dir.path('back'))).toEqual({
      code: 0,
      stdout: `downloaded 1 files to ${dir.path('back')}\n`,
      stderr: 'left out 1 that point outside or are not files: "./evil"\n',
    });
    expect(readFileSync(dir.path('back/sub/a.txt'), 'utf8')).toBe('a');
    expect(await workcell('sandbox', 'download', id, '/data/tree', dir.path('back'))).toMatchObject({ code: 2 });
    await workcell('sandbox', 'stop', id);
  });

  test('upload and download keep every byte, and a broken one replaces nothing', async () => {
    const id = await create();
    const bytes = randomBytes(3_000_000);
    writeFileSync(dir.path('in.bin'), bytes);
    expect(await workcell('sandbox', 'upload', id, dir.path('in.bin'), '/data/in.bin', '--parents')).toMatchObject({
      code: 0,
      stdout: `uploaded 3000000 bytes to ${id}:/data/in.bin\n`,
    });
    expect(await workcell('sandbox', 'download', id, '/data/in.bin', dir.path('out.bin'))).toMatchObject({ code: 0 });
    expect(readFileSync(dir.path('out.bin')).equals(bytes)).toBe(true);

    expect(await workcell('sandbox', 'upload', id, dir.path('none'), '/data/none')).toMatchObject({ code: 2 });
    expect(await workcell('sandbox', 'upload', id, dir.path('in.bin'), '/no/where')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[S211]'),
    });
    expect(await workcell('sandbox', 'download', id, '/data/none', dir.path('out.bin'))).toMatchObject({ code: 1 });
    expect(readFileSync(dir.path('out.bin')).equals(bytes)).toBe(true);
    await workcell('sandbox', 'stop', id);
  });

  test('shell.P15 shell reaches into a sandbox: commands, jobs and files', async () => {
    const id = await create();
    const bus = await connect(cell.url, { name: 'test', log: silentLog });
    const target = { kind: 'sandbox', sandbox_id: id };
    try {
      expect(await bus.call('shell::exec', { command: 'id -u', target })).toMatchObject({
        exit_code: 0,
        stdout: '0\n',
      });
      expect(await bus.call('shell::exec', { command: 'sleep 60', timeout_ms: 300, target })).toMatchObject({
        timed_out: true,
      });
      const { job_id } = (await bus.call('shell::exec_bg', { command: 'echo job', target })) as { job_id: string };
      await expect
        .poll(() => bus.call('shell::status', { job_id }))
        .toMatchObject({ job: { status: 'finished', stdout: 'job\n' } });
      expect(await bus.call('shell::fs::write', { path: '/tmp/w', content: 'text\n', target })).toMatchObject({
        bytes_written: 5,
      });
      expect(await bus.call('shell::fs::grep', { path: '/tmp', pattern: 'te.t', target })).toMatchObject({
        matches: [{ path: '/tmp/w', line: 1, content: 'text' }],
      });
      await expect(bus.call('shell::fs::stat', { path: '/tmp/none', target })).rejects.toMatchObject({ code: 'S211' });
      const model = { metadata: throughDoor('model') };
      await expect(bus.call('shell::fs::stat', { path: '/etc/passwrd', target }, model)).rejects.toMatchObject({
        code: 'S211',
        message: expect.stringContaining('did you mean /etc/passwd?'),
      });
      const grep = { path: '/etc/passwd', pattern: '^root:', target };
      expect(await bus.call('shell::fs::grep', grep, model)).toMatchObject({ matches: [{ line: 1 }] });
    } finally {
      bus.close();
    }
    await workcell('sandbox', 'stop', id);
  });

  test.runIf(isFull)(
    'sandbox.P9 sandbox.E12 a server that is killed leaves no process, and the next one nothing else',
    async () => {
      const ids = [await create(), await create(), await create()];
      await workcell('sandbox', 'exec', ids[0]!, '--', 'sh', '-c', 'nohup sleep 444 >/dev/null 2>&1 &');
      const running = () => ids.filter((id) => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(id));
      const sleeping = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes('sleep 444');
      // Processes under a guest kernel are not visible from here.
      expect([running(), sleeping()]).toEqual([ids, TEST_BACKEND === 'namespaces']);

      await cell.stop('SIGKILL');
      await expect.poll(() => [running(), sleeping()]).toEqual([[], false]);
      cell = await start();
      expect((await workcell('sandbox', 'list', '--json')).stdout).toContain('"sandboxes": []');
      const left = execFileSync(
        'sh',
        ['-c', 'find /sys/fs/cgroup -type d 2>/dev/null; cat /proc/mounts; ls /tmp /dev/shm /run'],
        {
          encoding: 'utf8',
        },
      );
      expect(ids.filter((id) => left.includes(id))).toEqual([]);
    },
  );
});
