/** Contract tests of isolation: of one machine from another, from its image, and from the host. */
import { createServer } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { GuestLost } from '#sandbox/guest';
import type { Subject } from './backend.contract.ts';
import { sharedMachine, startMachine } from './machine.contract.ts';

export function isolationContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const start = () => startMachine(subject().backend, subject().shape, slowness());
  const shared = sharedMachine(start);

  test('sandbox.E9 two machines see neither files nor processes of each other, and the image stays as it is', async () => {
    await using a = await start();
    const b = await shared();
    await a.sh('echo A > /usr/mine; echo changed > /image-file; rm -r /etc; (sleep 308 &)');
    expect(await b.sh('ls /usr/mine; cat /image-file; ls -d /etc; ps -o args | grep -c "[s]leep 308"')).toMatchObject({
      stdout: 'from the image\n/etc\n0',
    });
    const rootDir = await subject().shape.image.directory();
    expect(existsSync(join(rootDir, 'usr/mine'))).toBe(false);
    expect(readFileSync(join(rootDir, 'image-file'), 'utf8')).toBe('from the image\n');
  });

  test('sandbox.E8 what a machine wrote is gone with it', async () => {
    {
      await using first = await start();
      await first.sh('echo kept > /home/p');
    }
    await using second = await start();
    expect((await second.sh('ls -A /home')).stdout).toBe('');
  });

  test('a machine has the host neither in its name nor in its processes', async () => {
    const machine = await shared();
    const { stdout } = await machine.sh('hostname; ps -o pid | tail -n +2 | wc -l');
    const [name, processes] = stdout.split('\n');
    expect(name).toMatch(/^sandbox/);
    expect(Number(processes)).toBeLessThan(10);
  });

  test('sandbox.N1 there is no way to the network', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    try {
      const machine = await shared();
      const { stdout } = await machine.sh(
        `nc -w 600 192.0.2.1 80 </dev/null; echo $?; nc -w 600 127.0.0.1 ${port} </dev/null; echo $?`,
      );
      expect(stdout).toBe('1\n1');
    } finally {
      server.close();
    }
  });

  test('sandbox.N6 a server inside is reached from inside', async () => {
    await using machine = await start();
    await machine.sh('echo hello > /home/page; httpd -p 127.0.0.1:8080 -h /home');
    const client = 'until wget -q -O - http://127.0.0.1:8080/page; do sleep 0.05; done';
    expect(await machine.sh(client)).toEqual({ stdout: 'hello', stderr: '', exitCode: 0 });
  });

  test('sandbox.E6 a machine that is killed ends its calls at once and takes all with it', async () => {
    await using machine = await start();
    const failure = machine.sh('sleep 309').then(String, (error: unknown) => error);
    await machine.sh('echo up');
    await machine.instance.kill();
    expect(await failure).toBeInstanceOf(GuestLost);
    expect(await machine.agent.closed).toBeInstanceOf(GuestLost);
    await machine.instance.exited;
    await machine.instance.dispose();
    await machine.instance.dispose();
    expect(() => process.kill(machine.instance.pid!, 0)).toThrow('ESRCH');
  });

  test('a machine that ended by itself says so', async () => {
    await using machine = await start();
    machine.agent.close();
    // On a busy host the last line of a kernel that restarts may still arrive.
    const stderrTail = expect.stringMatching(/^(\[ *[\d.]+\] reboot: Restarting system\s*)?$/);
    expect(await machine.instance.exited).toMatchObject({ stderrTail });
  });
}
