/**
 * The isolation of sandboxes as users see it: the doctor, the setup, the failure that names the next step.
 *
 * A PATH to an empty directory stands for a host without any program, and a script that installs nothing for apt.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { release } from 'node:os';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connect } from '#client';
import { silentLog } from '#contract';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { IMAGE_PATIENCE_MS, sandboxConfig, whyNoSandbox } from '../../../src/testing/sandbox-cases.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { freePort } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: IMAGE_PATIENCE_MS });

interface Finding {
  check: string;
  status: string;
  detail: string;
  fix: string;
}

const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === 'linux';

/** A fake apt: prints the download size and progress; installs a runsc that does not work. */
const FAKE_APT = `#!/bin/sh
case "$*" in
  *--print-uris*) echo "'http://mirror/runsc.deb' runsc.deb 5684616 SHA256:0" ;;
  *) echo "pmstatus:runsc:60.0:Unpacking runsc" >&3
     printf '#!/bin/sh\\necho broken >&2\\nexit 1\\n' >"\${0%/*}/runsc"
     /bin/chmod +x "\${0%/*}/runsc" ;;
esac
`;

const FAILING_APT = '#!/bin/sh\necho "E: Unable to locate package runsc" >&2\nexit 100\n';

let dir: TempDir;
beforeAll(async () => {
  const config = (more: object) => JSON.stringify({ workers: [{ name: 'iii-sandbox', config: more }] });
  dir = await tempDir({
    'bare.yaml': '',
    'here.yaml': config(sandboxConfig({ backend: 'auto' })),
    'apt/apt-get': { content: FAKE_APT, mode: 0o755 },
    'apt-that-installs/apt-get': { content: FAKE_APT, mode: 0o755 },
    'apt-that-fails/apt-get': { content: FAILING_APT, mode: 0o755 },
    'nowhere/': '',
  });
  const bare = { cache_dir: dir.path('cache') };
  dir.add({ 'bare.yaml': config(bare), 'allowing.yaml': config({ ...bare, image_allowlist: ['python'] }) });
});
afterAll(() => dir?.[Symbol.asyncDispose]());

/** On a host that has only the programs in the folder. */
const onBareHost = (folder: string, ...args: string[]) =>
  runCli([...args, '-c', dir.path('bare.yaml')], { env: { PATH: dir.path(folder) } });

const findingsOf = (stdout: string) => JSON.parse(stdout) as Finding[];

describe('doctor', () => {
  test.skipIf(!isLinux)(
    'says what to do on a host that lacks everything, and does not call that a failure',
    async () => {
      const { code, stdout, stderr } = await onBareHost('nowhere', 'doctor', '--json');
      expect([code, stderr]).toEqual([0, '']);
      const findings = findingsOf(stdout);
      const fixOf = (check: string) => findings.find((finding) => finding.check === check)?.fix;
      expect(['gvisor', 'qemu+tcg', 'namespaces'].map(fixOf)).toEqual([
        'workcell setup gvisor',
        'workcell setup qemu',
        'workcell setup namespaces',
      ]);
      expect(findings.find(({ check }) => check === 'sandboxes')).toEqual({
        check: 'sandboxes',
        status: 'warn',
        detail: 'nothing that may be taken works, so sandbox::create fails',
        fix: expect.stringMatching(/^workcell setup (qemu|gvisor)$/),
      });
      expect(findings.find(({ check }) => check === 'packages')).toMatchObject({
        status: 'off',
        detail: expect.stringContaining('runsc (the kernel of gVisor)'),
      });
      expect(findings.filter(({ detail }) => detail === '')).toEqual([]);
    },
  );

  test('is a table for people, with the same lines', async () => {
    const run = (...more: string[]) => runCli(['doctor', '-c', dir.path('here.yaml'), ...more]);
    const [json, table] = [await run('--json'), await run()];
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^STATUS +CHECK +FOUND +FIX\nok +node +\d+\.\d+\.\d+\n/);
    const rows = table.stdout.trimEnd().split('\n').slice(1);
    for (const [at, { status, check }] of findingsOf(json.stdout).entries()) {
      expect(rows[at]).toMatch(new RegExp(`^${status} +${check.replace('+', '\\+')} `));
    }
  });

  test('prints cached verdicts with their date, and probes again when asked', async () => {
    const probe = { ok: true, isolation: 'namespaces', detail: 'as it was' };
    const verdict = { kernel: release(), fingerprint: '', askedAtMs: 0, tookMs: 400, isDoubted: false, probe };
    dir.add({ 'cache/verdicts.json': JSON.stringify({ namespaces: verdict }) });
    const rung = async (...more: string[]) => {
      const { stdout } = await onBareHost('nowhere', 'doctor', '--json', ...more);
      return findingsOf(stdout).find(({ check }) => check === 'namespaces');
    };
    expect(await rung()).toEqual({
      check: 'namespaces',
      status: 'ok',
      detail: 'namespaces, answered in 0.4 s on 1970-01-01; as it was',
      fix: '',
    });
    expect(await rung('--fresh')).toMatchObject({ status: 'off', fix: 'workcell setup namespaces' });
    expect(await rung()).toMatchObject({ status: 'off' });
  });

  test('names the process that answers at the engine’s port', async () => {
    await using cell = await startCli(['start', '--port', '0']);
    await using closed = await startCli(['start', '--port', '0', '--token', 'secret']);
    const other = createServer((socket) => socket.on('error', () => {}).end('no\r\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const free = await freePort();
    try {
      const engineAt = async (url: string) => {
        const { stdout } = await onBareHost('nowhere', 'doctor', '--json', '--url', url);
        return findingsOf(stdout).find(({ check }) => check === 'engine');
      };
      const holder = (pid: number) => (isLinux ? `: node (process ${pid})` : '');
      expect(await engineAt(cell.url)).toMatchObject({
        status: 'ok',
        detail: `an engine answers at ${cell.url}${holder(cell.child.pid!)}`,
        fix: '',
      });
      expect(await engineAt(closed.url)).toMatchObject({
        status: 'warn',
        detail: `an engine at ${closed.url} wants a token${holder(closed.child.pid!)}`,
        fix: 'give --token or set WORKCELL_TOKEN',
      });
      expect(await engineAt(`ws://127.0.0.1:${port}`)).toMatchObject({
        status: 'warn',
        detail: expect.stringMatching(/^something else listens at /),
        fix: 'workcell start --port picks another port',
      });
      expect(await engineAt(`ws://127.0.0.1:${free}`)).toEqual({
        check: 'engine',
        status: 'ok',
        detail: `nothing listens at ws://127.0.0.1:${free}: the port is free`,
        fix: 'workcell start',
      });
    } finally {
      other.close();
    }
  });
});

describe.skipIf(!isLinux)('setup', () => {
  const GVISOR =
    'gvisor: needs musl-tools (building the guest agent), mmdebstrap (building the python and node images), runsc (the ' +
    'kernel of gVisor)';
  const COMMAND = 'apt-get install -y --no-install-recommends musl-tools mmdebstrap runsc';

  test('--dry-run says what is missing, how big it is and the command, and does nothing', async () => {
    expect(await onBareHost('apt', 'setup', 'gvisor', '--dry-run')).toEqual({
      code: 0,
      stdout: `${GVISOR}; 5.7 MB to download\ngvisor: would run: ${COMMAND}\n`,
      stderr: '',
    });
    const best = await onBareHost('apt', 'setup', '--dry-run');
    expect(best).toMatchObject({ code: 0, stdout: expect.stringContaining(`would run: ${COMMAND}\n`) });
  });

  test('without apt it prints the command and exits 1', async () => {
    expect(await onBareHost('nowhere', 'setup', 'gvisor')).toEqual({
      code: 1,
      stdout: `${GVISOR}\ngvisor: this system has no apt; run as root: ${COMMAND}\n`,
      stderr: '',
    });
  });

  test.skipIf(!isRoot)('installs, tries, and reports when it still does not work', async () => {
    const { code, stdout } = await onBareHost('apt-that-installs', 'setup', 'gvisor');
    expect([code, stdout.split('\n').slice(0, 2)]).toEqual([
      1,
      [`${GVISOR}; 5.7 MB to download`, 'gvisor: installed musl-tools, mmdebstrap, runsc'],
    ]);
    expect(stdout.split('\n')[2]).toMatch(/^gvisor: does not work: .+ \(\d+\.\d s\)$/);
  });

  test.skipIf(!isRoot)('says why apt failed, without a stack trace', async () => {
    const { code, stdout, stderr } = await onBareHost('apt-that-fails', 'setup', 'gvisor');
    expect([code, stdout, stderr]).toEqual([
      1,
      `${GVISOR}\n`,
      'Error: apt-get failed: E: Unable to locate package runsc\n',
    ]);
  });

  test('refuses an unknown name', async () => {
    expect(await onBareHost('nowhere', 'setup', 'gvizor')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Error: setup has no backend "gvizor" (did you mean "gvisor"?)\n',
    });
  });
});

test.skipIf(!isLinux)(
  'a sandbox on a host that lacks everything fails with every rung, why not, and what to do',
  async () => {
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('allowing.yaml')], {
      env: { PATH: dir.path('nowhere') },
    });
    const { code, stderr } = await runCli(['sandbox', 'create', 'python'], { env: { III_URL: cell.url } });
    expect(code).toBe(1);
    const [message = ''] = stderr.split('\n');
    expect(message).toMatch(/^Error: \[S300\] VM boot failed: qemu\+kvm: .+; gvisor: .+; qemu\+tcg: .+; namespaces: /);
    expect(message).toMatch(/; to get one: workcell setup (qemu|gvisor)$/);
  },
);

const why = await whyNoSandbox(['python'], { backend: 'auto' });

test.skipIf(why !== undefined)(
  `sandbox.P14 auto takes a rung with a kernel of its own${why ? ` (${why})` : ''}`,
  async () => {
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('here.yaml')]);
    const bus = await connect(cell.url, { name: 'test', log: silentLog });
    try {
      const made = (await bus.call('sandbox::create', { image: 'python' }, { timeoutMs: 60_000 })) as Record<
        string,
        string
      >;
      expect(['hardware-vm', 'userspace-kernel', 'emulated-vm']).toContain(made.isolation);
      expect(await bus.call('sandbox::list', {})).toMatchObject({
        sandboxes: [{ sandbox_id: made.sandbox_id, isolation: made.isolation, backend: made.backend }],
      });
      const exec = { sandbox_id: made.sandbox_id, cmd: 'python3', args: ['-c', 'print(6 * 7)'] };
      expect(await bus.call('sandbox::exec', exec, { timeoutMs: 60_000 })).toMatchObject({ stdout: '42\n' });
      expect(cell.stderr).toContain('sandboxes are isolated');
    } finally {
      bus.close();
    }
  },
);
