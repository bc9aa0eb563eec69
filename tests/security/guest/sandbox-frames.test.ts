/**
 * Both ends of the channel against a hostile other end: a guest that sends anything but what it may, and a host that
 * sends garbage. Every call ends with a reason, nothing is trusted, and no agent crashes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { HostError } from '#host';
import { rounds, tempDir } from '#testing/basics';
import { AgentClient } from '../../../src/sandbox/guest/agent-client.ts';
import { frameHeader, OP, ProtocolError, WINDOW_BYTES } from '../../../src/sandbox/guest/frames.ts';
import { GuestError, GuestLost } from '../../../src/sandbox/guest/guest-error.ts';
import { guestFileSystem } from '../../../src/sandbox/guest/guest-file-system.ts';
import { GuestFiles } from '../../../src/sandbox/guest/guest-files.ts';
import { buildSanitized, faultsIn, reportingTo } from './sandbox-agent-process.ts';
import { duplexPair, greet } from './sandbox-duplex.ts';

const HOSTILE_GUESTS = rounds(2_000, 10_000, 200_000);
const HOSTILE_HOSTS = rounds(20, 60, 2_000);

const never = new AbortController().signal;

/** Of the guest, where the host listens. */
const PORT = 7;
const CONNECTION = 0x8000_0001;

const COMMAND = { argv: ['x'], env: [], cwd: '/', maxOutputBytes: 1_000_000, timeoutMs: 60_000, signal: never };

describe('a hostile guest', () => {
  test(`sandbox.P7 ${HOSTILE_GUESTS} random conversations each end with a coded reason or an answer`, async () => {
    const random = randomNumbers(7);
    const ends = new Map<string, number>();
    for (let round = 0; round < HOSTILE_GUESTS; round++) {
      const { host, guest } = duplexPair();
      const client = await greet(host, guest);
      const calls = [0, 1, 2].map(() => {
        const call = CALLS[Math.floor(random() * CALLS.length)]!;
        return call(client).then(() => 'answered', reasonOf);
      });
      guest.write(hostileBytes(random));
      guest.end();
      for (const end of await Promise.all(calls)) ends.set(end, (ends.get(end) ?? 0) + 1);
      guest.destroy();
    }
    console.log(Object.fromEntries(ends));
    expect([...ends.keys()].filter((end) => end.startsWith('unexpected'))).toEqual([]);
    // The generator is useless unless it reaches the rules behind the first.
    expect([...ends.keys()]).toEqual(
      expect.arrayContaining(['frame-length', 'unknown-stream', 'unknown-op', 'credit', 'payload', 'answered', 'gone']),
    );
  }, 300_000);

  test.each([
    ['a frame for a stream that was never opened', frame(99, OP.data, 'x'), 'unknown-stream'],
    [
      'a second end of one stream',
      Buffer.concat([frame(1, OP.done, '\0\0'), frame(1, OP.done, '\0\0')]),
      'unknown-stream',
    ],
    ['an operation of the host', frame(1, OP.exec, ''), 'unknown-op'],
    [
      'more than a window',
      Buffer.concat([frame(1, OP.data, 'x'.repeat(200_000)), frame(1, OP.data, 'x'.repeat(WINDOW_BYTES - 199_999))]),
      'credit',
    ],
    [
      'credit without measure',
      Buffer.concat(Array.from({ length: 3 }, () => frame(1, OP.credit, '\xff\xff\xff\x7f', 'latin1'))),
      'credit',
    ],
    ['a failure that says nothing', frame(1, OP.fail, ''), 'payload'],
    ['a start of no process', frame(1, OP.started, '\x07'), 'payload'],
    [
      'a second start of one command',
      Buffer.concat([frame(1, OP.started, '\x07\0\0\0'), frame(1, OP.started, '\x08\0\0\0')]),
      'unknown-op',
    ],
    ['a frame longer than any', Buffer.from('ffffffff0100000003', 'hex'), 'frame-length'],
  ])('%s ends the connection', async (_, bytes, breach) => {
    const { host, guest } = duplexPair();
    const client = await greet(host, guest);
    const call = client.request(OP.exec, Buffer.alloc(0));
    guest.write(bytes);
    const end = await client.closed;
    expect(end).toBeInstanceOf(ProtocolError);
    expect(end).toMatchObject({ breach });
    expect(host.destroyed).toBe(true);
    await expect(
      (await call).answer.then(
        () => 'answered',
        (error: unknown) => error,
      ),
    ).resolves.toSatisfy((outcome) => outcome === end || outcome === 'answered');
    await expect(client.request(OP.exec, Buffer.alloc(0))).rejects.toBe(end);
  });

  test.each([
    ['a newer version', 3, 'version'],
    ['a version before all', 0, 'version'],
    ['no version', undefined, 'version'],
  ])('a greeting with %s is refused', async (_, version, breach) => {
    const { host, guest } = duplexPair();
    const opening = AgentClient.open(host, { deadlineMs: 60_000 });
    const words = Buffer.alloc(12);
    words.writeUInt32LE(version ?? 1, 0);
    guest.write(version === undefined ? frame(0, OP.data, 'hi') : Buffer.concat([frameHeader(0, OP.hello, 12), words]));
    await expect(opening).rejects.toMatchObject({ breach });
  });

  test('a guest that says nothing is dropped in time', async () => {
    const { host } = duplexPair();
    await expect(AgentClient.open(host, { deadlineMs: 50 })).rejects.toThrow('did not answer within 50 ms');
  });

  test('a guest that does not cut its output is cut here', async () => {
    const { host, guest } = duplexPair();
    const client = await greet(host, guest);
    const running = client.exec({ ...COMMAND, maxOutputBytes: 1000 });
    await new Promise((resolve) => setImmediate(resolve));
    for (const op of [OP.data, OP.dataErr, OP.data]) guest.write(frame(1, op, 'x'.repeat(60_000)));
    guest.write(frame(1, OP.done, '\0\0'));
    const outcome = await running;
    expect(outcome).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: true });
    expect([outcome.stdout.length, outcome.stderr.length]).toEqual([1000, 1000]);
  });
});

describe('a hostile host', () => {
  test(`${HOSTILE_HOSTS} conversations of garbage do not crash the agent`, async () => {
    await using dir = await tempDir();
    await using logs = await tempDir();
    const agent = buildSanitized(dir.path('agent'));
    const random = randomNumbers(11);
    const ends: Record<string, number> = {};
    for (let round = 0; round < HOSTILE_HOSTS; round++) {
      const child = spawn('unshare', ['-rmpfn', '--mount-proc', '--kill-child', agent, '--fd', '3'], {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        cwd: dir.root,
        env: reportingTo(logs.root),
      });
      let stderr = '';
      child.stderr!.on('data', (piece) => (stderr += piece));
      const channel = child.stdio[3] as Duplex;
      channel.on('error', () => {});
      channel.resume();
      channel.write(frame(0, OP.hello, '\x02\0\0\0'));
      channel.end(hostBytes(random));
      const [code, signal] = await once(child, 'exit', { signal: AbortSignal.timeout(60_000) });
      expect(faultsIn(logs.root)).toEqual([]);
      const end = `${code ?? signal} ${stderr.split('\n')[0]}`;
      ends[end] = (ends[end] ?? 0) + 1;
    }
    console.log(ends);
    const known = /^(0 |1 agent: )/;
    expect(Object.keys(ends).filter((end) => !known.test(end))).toEqual([]);
  }, 600_000);
});

/** Everything that is asked of a guest. */
const CALLS: ((client: AgentClient) => Promise<unknown>)[] = [
  (client) => client.exec({ ...COMMAND, maxOutputBytes: 1000 }),
  followed,
  (client) => new GuestFiles(client).stat('/', { signal: never }),
  async (client) => drain((await new GuestFiles(client).read('/f', { signal: never })).bytes),
  (client) => drain(new GuestFiles(client).list('/', { signal: never })),
  (client) => drain(new GuestFiles(client).walk('/', { maxDepth: 5, signal: never })),
  (client) => drain(new GuestFiles(client).readMany(['/a', '/b'], { maxBytes: 1000, signal: never })),
  (client) => new GuestFiles(client).write('/f', zeros(300_000), { parents: true }, { signal: never }),
  (client) => new GuestFiles(client).mkdir('/d', { mode: 0o755, parents: true, signal: never }),
  (client) => new GuestFiles(client).chmod('/d', { mode: 0o755, recursive: true, signal: never }),
  (client) => guestFileSystem(client).ls('/', { signal: never }),
  (client) => client.listen(PORT, (connection) => connection.pipe(connection)),
];

/** A job in a terminal, that is also signalled and resized. */
async function followed(client: AgentClient): Promise<void> {
  const terminal = { columns: 80, rows: 24 };
  const process = await client.start({ ...COMMAND, isFollowed: true, terminal }, { signal: never });
  const output = drain(process.output);
  output.catch(() => {});
  await process.started();
  await process.sendSignal('SIGINT');
  process.resize!(terminal);
  await Promise.all([process.done, output]);
}

async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(bytes);
}

async function drain(list: AsyncIterable<unknown>): Promise<void> {
  for await (const one of list) void one;
}

function reasonOf(error: unknown): string {
  if (error instanceof ProtocolError) return error.breach;
  if (error instanceof GuestLost) return 'gone';
  if (error instanceof GuestError || error instanceof HostError) return 'answered';
  return `unexpected ${String(error)}`;
}

function frame(stream: number, op: number, payload: string, encoding: BufferEncoding = 'utf8'): Buffer {
  const bytes = Buffer.from(payload, encoding);
  return Buffer.concat([frameHeader(stream, op, bytes.length), bytes]);
}

/** Frames that are nearly right: of open streams mostly, with payloads that are long, short, or cut; then noise. */
function hostileBytes(random: () => number): Buffer {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const ops = [
    OP.data,
    OP.data,
    OP.dataErr,
    OP.credit,
    OP.done,
    OP.fail,
    OP.hello,
    OP.exec,
    OP.list,
    OP.open,
    OP.open,
    OP.started,
    OP.end,
    Math.floor(random() * 256),
  ];
  const pieces: Buffer[] = [];
  const count = 1 + Math.floor(random() * 6);
  for (let i = 0; i < count; i++) {
    const payload = Buffer.alloc(pick([0, 1, 2, 4, 5, 31, 40, 100, 5000, 200_000]));
    for (let k = 0; k < Math.min(payload.length, 64); k++) payload[k] = Math.floor(random() * 256);
    if (random() < 0.3) payload[0] = pick(['f', 'd', 'l'].map((kind) => kind.charCodeAt(0)));
    const op = pick(ops);
    if (op === OP.open && random() < 0.8) {
      pieces.push(frame(CONNECTION + pick([0, 0, 1]), OP.open, String.fromCharCode(PORT, 0)));
      continue;
    }
    const stream = pick([1, 1, 2, 3, 3, 0, 4, CONNECTION, CONNECTION, 0xffff_ffff]);
    pieces.push(frameHeader(stream, op, payload.length), payload);
  }
  const bytes = Buffer.concat(pieces);
  if (random() < 0.2) return bytes.subarray(0, Math.floor(random() * bytes.length));
  if (random() < 0.2) bytes[Math.floor(random() * Math.min(bytes.length, 40))] = Math.floor(random() * 256);
  return bytes;
}

/** Requests that are nearly right, on few streams, with all that fits on one. */
function hostBytes(random: () => number): Buffer {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const texts = ['/', '', '/proc/self/mem', 'x'.repeat(5000), 'relative/x', '/dev/zero', '/proc', '/bin/true', 'A=b'];
  const pieces: Buffer[] = [];
  const count = 5 + Math.floor(random() * 60);
  let last = 0;
  for (let i = 0; i < count; i++) {
    // Nothing that changes files: the agent under test works on those of this machine.
    const begins = [OP.exec, OP.list, OP.stat, OP.read, OP.walk, OP.readMany, OP.part, OP.listen, 99, 255];
    const goesOn = [OP.data, OP.end, OP.credit, OP.cancel, OP.part, OP.resize, OP.signal];
    const isBeginning = random() < 0.5;
    const stream = isBeginning && random() < 0.98 ? ++last : 1 + Math.floor(random() * (last + 2));
    const numbers = Buffer.alloc(pick([0, 1, 3, 4, 8, 13, 17, 25, 29, 33]));
    for (let k = 0; k < numbers.length; k++) numbers[k] = random() < 0.6 ? 0 : Math.floor(random() * 256);
    if (numbers.length === 25 && random() < 0.7) numbers.writeUInt32LE(1, 17);
    // With a terminal: its size comes before the count of the words.
    if (numbers.length === 29) {
      numbers[16] = pick([2, 6, 7]);
      numbers.writeUInt32LE(1, 21);
    }
    const words = Buffer.from(texts.filter(() => random() < 0.4).join('\0') + (random() < 0.8 ? '\0' : ''));
    const payload = Buffer.concat([numbers, words]);
    pieces.push(frameHeader(stream, pick(isBeginning ? begins : goesOn), payload.length), payload);
  }
  if (random() < 0.3) pieces.push(Buffer.from(Array.from({ length: 50 }, () => Math.floor(random() * 256))));
  return Buffer.concat(pieces);
}

/** The same numbers every time, so that a failure can be reproduced. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
