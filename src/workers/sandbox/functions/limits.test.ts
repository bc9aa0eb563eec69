/** A command that hits a limit of its sandbox gets its name and advice. */
import { describe, expect, test } from 'vitest';

import { CASE_PATIENCE_MS, IMAGE_PATIENCE_MS, serveSandboxes, TEST_BACKEND, whyNoSandbox } from '#testing';

const why = await whyNoSandbox(['python']);

const MORE_AND_MORE = `kept = []
while True: kept.append(b"x" * (1 << 20))`;
const FORKS = `import os, time
for _ in range(3000):
  if os.fork() == 0: time.sleep(60); os._exit(0)`;

describe.skipIf(why !== undefined)(
  `at a limit${why === undefined ? '' : ` (${why})`}`,
  { timeout: IMAGE_PATIENCE_MS },
  () => {
    test('a memory kill says so, with the limit; the next failure is not blamed on it', async () => {
      await using cell = await serveSandboxes();
      const sandbox_id = await cell.create({ memory_mb: 128, disk_mb: 64 });
      const exec = (code: string) =>
        cell.call('sandbox::exec', { sandbox_id, argv: ['python3', '-c', code] }, { timeoutMs: CASE_PATIENCE_MS });

      const killed = await exec(MORE_AND_MORE);
      expect(killed).toMatchObject({ success: false, stderr: expect.stringContaining('memory_mb is 128') });
      // gVisor's kernel sends SIGSEGV or SIGBUS, which may be the fault of the program too.
      if (TEST_BACKEND !== 'gvisor') expect(killed).toMatchObject({ killed_by: 'memory', exit_code: 137 });
      expect(await exec('raise SystemExit(3)')).not.toHaveProperty('killed_by');
    });

    // Only a control group of this machine counts refused forks.
    test.skipIf(TEST_BACKEND !== 'namespaces')('so does the process limit', async () => {
      await using cell = await serveSandboxes();
      const sandbox_id = await cell.create();
      expect(await cell.call('sandbox::exec', { sandbox_id, argv: ['python3', '-c', FORKS] })).toMatchObject({
        killed_by: 'processes',
        stderr: expect.stringMatching(/as many processes as it may have \(1024\); end some/),
      });
    });

    // Guests of other backends see the processors and the memory of this machine.
    test.skipIf(TEST_BACKEND !== 'qemu')(
      'nproc shows the processors of the sandbox, and free its memory with its disk, which lies there',
      async () => {
        await using cell = await serveSandboxes({ max_sandbox_percent: 100 });
        const sandbox_id = await cell.create({ memory_mb: 256, disk_mb: 64, cpus: 2 });
        const argv = ['sh', '-c', 'nproc; free -m | awk "/^Mem/ {print \\$2 <= 320}"'];
        expect(await cell.call('sandbox::exec', { sandbox_id, argv })).toMatchObject({ stdout: '2\n1\n' });
      },
    );
  },
);
