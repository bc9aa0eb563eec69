/**
 * Contract tests of connections from programs of the guest to the agent: streams on the host with all properties of a
 * connection.
 */
import type { Duplex } from 'node:stream';

import { expect, test } from 'vitest';

import { GuestError } from '#sandbox/guest';
import { rounds } from '#testing';
import type { Subject } from './backend.contract.ts';
import { sharedMachine, startMachine, type TestMachine } from './machine.contract.ts';

const PORT = 3128;

const PATIENCE_MS = 60_000;

export function tunnelContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const start = () => startMachine(subject().backend, subject().shape, slowness());
  const shared = sharedMachine(start);
  /** An agent listens on a port once, so the running test receives the connections. */
  const receivers = new WeakMap<object, (connection: Duplex) => void>();
  const listening = async (onConnection: (connection: Duplex) => void): Promise<TestMachine> => {
    const machine = await shared();
    const isListening = receivers.has(machine.agent);
    receivers.set(machine.agent, onConnection);
    if (!isListening) await machine.agent.listen(PORT, (connection) => receivers.get(machine.agent)!(connection));
    return machine;
  };
  const echo = (connection: Duplex) => connection.pipe(connection);

  test('a program talks to the host, and each direction ends by itself', async () => {
    const heard: string[] = [];
    const machine = await listening((connection) => {
      connection.on('data', (piece: Buffer) => heard.push(piece.toString()));
      connection.once('end', () => connection.end('and good bye'));
    });
    expect(await machine.sh(`echo hello | nc 127.0.0.1 ${PORT}`)).toEqual({
      stdout: 'and good bye',
      stderr: '',
      exitCode: 0,
    });
    expect(heard).toEqual(['hello\n']);
  });

  test('much goes both ways at once and arrives as it was', async () => {
    const machine = await listening(echo);
    const script = `head -c 1000000 /dev/urandom > /tmp/a; nc 127.0.0.1 ${PORT} < /tmp/a > /tmp/b; cmp /tmp/a /tmp/b && echo same`;
    expect((await machine.sh(script)).stdout).toBe('same');
  });

  test('a host that does not read holds up that program and no other', async () => {
    let connection: Duplex | undefined;
    const machine = await listening((one) => (connection = one));
    const running = machine.sh(`head -c 20000000 /dev/zero | nc 127.0.0.1 ${PORT}; echo over`);
    await expect.poll(() => connection?.readableLength ?? 0, { timeout: PATIENCE_MS * slowness() }).toBeGreaterThan(0);
    expect((await machine.sh('echo works')).stdout).toBe('works');
    // At most a window and a piece are buffered here.
    expect(connection!.readableLength).toBeLessThan(600_000);
    connection!.destroy();
    expect((await running).stdout).toBe('over');
  });

  test('a program sees the end of what the host says while it has not ended itself', async () => {
    const machine = await listening((connection) => connection.resume().end('bye'));
    const script = `mkfifo /tmp/open; exec 3<>/tmp/open; nc 127.0.0.1 ${PORT} <&3; echo; echo over`;
    expect((await machine.sh(script)).stdout).toBe('bye\nover');
  });

  test('a program that reads late gets all that was written before the host closed', async () => {
    const machine = await listening((connection) => {
      connection.resume();
      connection.end(Buffer.alloc(1_000_000), () => connection.destroy());
    });
    const script = `mkfifo /tmp/open; exec 3<>/tmp/open; nc 127.0.0.1 ${PORT} <&3 | (sleep 1; wc -c)`;
    expect((await machine.sh(script)).stdout).toBe('1000000');
  });

  test('a connection that the host refuses ends at once', async () => {
    const machine = await listening((connection) => connection.destroy());
    const script = `mkfifo /tmp/open; exec 3<>/tmp/open; nc 127.0.0.1 ${PORT} <&3 | wc -c`;
    expect((await machine.sh(script)).stdout).toBe('0');
  });

  test('a program that goes away ends its connection here', async () => {
    const closed: Promise<void>[] = [];
    const machine = await listening((connection) => {
      closed.push(new Promise((resolve) => connection.once('close', resolve)));
      connection.write(Buffer.alloc(4_000_000));
    });
    await machine.sh(`mkfifo /tmp/open; exec 3<>/tmp/open; timeout 1 nc 127.0.0.1 ${PORT} <&3 | (sleep 2; head -c 9)`);
    expect(closed.length).toBe(1);
    await closed[0];
  });

  test('more connections than there are places wait for one, and all are served', async () => {
    let most = 0;
    const open = new Set<Duplex>();
    const machine = await listening((connection) => {
      open.add(connection);
      most = Math.max(most, open.size);
      connection.once('close', () => open.delete(connection));
      echo(connection);
    });
    const count = slowness() > 1 ? rounds(40, 200, 200) : 200;
    const script = `for i in $(seq ${count}); do echo $i | nc 127.0.0.1 ${PORT} >> /tmp/all & done; wait; sort -n /tmp/all | uniq | wc -l`;
    expect((await machine.sh(script)).stdout).toBe(String(count));
    expect(most).toBeLessThanOrEqual(256);
    await expect.poll(() => open.size, { timeout: PATIENCE_MS * slowness() }).toBe(0);
  });

  test('a port that is taken is reported', async () => {
    await using machine = await start();
    await machine.sh(`httpd -p 127.0.0.1:${PORT}`);
    const failure = await machine.agent.listen(PORT, echo).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GuestError);
    expect(failure).toMatchObject({ code: 'EADDRINUSE' });
  });
}
