/**
 * The pool over a fake backend, whose machines are streams with an agent that only greets: quick, countable, and killed
 * on demand.
 */
import { rmSync } from 'node:fs';
import { duplexPair, type Duplex } from 'node:stream';
import { setTimeout as passed } from 'node:timers/promises';

import { afterEach, expect, test } from 'vitest';

import {
  type AgentClient,
  frameHeader,
  FrameReader,
  MAX_FRAME_BYTES,
  OP,
  PROTOCOL_VERSION,
  WINDOW_BYTES,
} from '#sandbox/guest';
import { tempDir } from '#testing';
import type { Ending, Instance, Probe, SandboxBackend, Shape } from './backend.ts';
import { WarmPool, type WarmPoolOptions } from './warm-pool.ts';

const { signal } = new AbortController();

class FakeMachine implements Instance {
  readonly channel: Duplex;
  readonly exited: Promise<Ending>;
  readonly pid = 0;
  introductions = 0;
  isDisposed = false;
  /** Makes every further introduction hang. */
  isDeaf = false;
  readonly id: string;
  readonly guest: Duplex;
  readonly #frames = new FrameReader();

  constructor(id: string) {
    this.id = id;
    [this.channel, this.guest] = duplexPair();
    this.guest.on('data', (piece: Buffer) => this.#answer(piece));
    this.exited = new Promise((resolve) => {
      this.guest.once('close', () => resolve({ code: 0, signal: null, stderrTail: '' }));
    });
  }

  /** It has no program to run. */
  #answer(piece: Buffer): void {
    for (const { op, stream } of this.#frames.read(piece)) {
      if (op === OP.hello) this.guest.write(greeting());
      if (op === OP.exec) this.guest.write(refusal(stream));
    }
  }

  async personalize(_agent: AgentClient): Promise<void> {
    this.introductions++;
    if (this.isDeaf) await new Promise(() => {});
  }

  async usage(): Promise<undefined> {}

  /** Ends by itself: the other end of the stream is closed. */
  die(): void {
    this.guest.end();
    this.guest.destroy();
  }

  async kill(): Promise<void> {
    this.die();
    this.channel.destroy();
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
  }
}

class FakeBackend implements SandboxBackend {
  readonly name = 'qemu';
  readonly rung = 'qemu+fake';
  readonly isolation = 'emulated-vm';
  readonly made: FakeMachine[] = [];
  isClosed = false;
  /** Why the next machines cannot be made. */
  problem: string | undefined;

  fingerprint(): string {
    return 'fake';
  }

  async probe(): Promise<Probe> {
    return { ok: true, detail: 'fake' };
  }

  async prepare(): Promise<void> {}

  async create(_: Shape, { id }: { id: string }): Promise<Instance> {
    if (this.problem !== undefined) throw new Error(this.problem);
    const machine = new FakeMachine(id);
    this.made.push(machine);
    return machine;
  }

  async sweep(): Promise<void> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  get living(): number {
    return this.made.filter(({ isDisposed }) => !isDisposed).length;
  }
}

let pool: WarmPool;
let backend: FakeBackend;

afterEach(() => pool.close());

function open(options: Partial<WarmPoolOptions> = {}): void {
  backend = new FakeBackend();
  pool = new WarmPool(backend, { minIdle: 1, isMemoryLow: () => false, pollMs: 10, ...options });
}

const create = (memoryMb = 64) => pool.create(shape(memoryMb), { id: 'wanted', signal });

/** Waits until so many machines were made and the waiting ones have been personalized once. */
async function settled(made: number): Promise<void> {
  await expect.poll(() => backend.made.length).toBe(made);
  await passed(20);
  expect(backend.made.length).toBe(made);
}

test('the first machine of a shape is made for its caller, the next one waited', async () => {
  open();
  const first = await create();
  expect(first).toBe(backend.made[0]);
  expect(backend.made[0]!.introductions).toBe(0);
  await settled(2);

  const second = await create();
  expect(second.channel).toBe(backend.made[1]!.channel);
  expect(second.agent).toBeDefined();
  // Twice during the warm-up, and once at hand-out; the receiver does not do it again.
  expect(backend.made[1]!.introductions).toBe(3);
  expect(second.personalize).toBeUndefined();
});

test('as many wait as were asked for', async () => {
  open({ minIdle: 3 });
  await create();
  await settled(4);
  await Promise.all([create(), create()]);
  await settled(6);
});

test('a pool size of 0 keeps no machine', async () => {
  open({ minIdle: 0 });
  await create();
  await settled(1);
});

test('a pooled machine that died is not handed out, and nothing of it is left', async () => {
  open();
  await create();
  await settled(2);
  backend.made[1]!.die();
  await expect.poll(() => backend.made[1]!.isDisposed).toBe(true);
  expect(await create()).toBe(backend.made[2]);
});

test('a machine whose image was removed and made again is not handed out', async () => {
  await using dir = await tempDir({ 'root/f': '' });
  open();
  const made = shape(64);
  const wanted = { ...made, image: { ...made.image, directory: async () => dir.path('root') } };
  await pool.create(wanted, { id: 'first', signal });
  await settled(2);
  rmSync(dir.path('root'), { recursive: true });
  dir.add({ 'root/f': '' });
  expect(await pool.create(wanted, { id: 'second', signal })).toBe(backend.made[2]);
});

test('a machine that does not answer when it is wanted is dropped, and the caller gets another', async () => {
  open();
  await create();
  await settled(2);
  backend.made[1]!.isDeaf = true;
  const wanted = create();
  // Its end is detected, not only its silence.
  await passed(20);
  backend.made[1]!.die();
  expect(await wanted).toBe(backend.made[2]);
  await expect.poll(() => backend.made[1]!.isDisposed).toBe(true);
});

test('machines that wait are ended when memory gets low, and are made again when there is more', async () => {
  let isLow = false;
  open({ isMemoryLow: () => isLow });
  await create();
  await settled(2);
  isLow = true;
  await expect.poll(() => backend.living).toBe(1);
  await create();
  await settled(3);
  isLow = false;
  await create();
  await settled(5);
  expect(backend.living).toBe(4);
});

test('machines wait for the four shapes asked for last', async () => {
  open();
  for (const memoryMb of [1, 2, 3, 4]) await create(memoryMb);
  await settled(8);
  expect(backend.living).toBe(8);
  await create(5);
  await settled(10);
  await expect.poll(() => backend.living).toBe(9);
  const isFromPool = async (memoryMb: number) => (await create(memoryMb)).agent !== undefined;
  expect([await isFromPool(2), await isFromPool(1)]).toEqual([true, false]);
});

test('a machine that cannot be made to wait does not fail the call', async () => {
  open();
  await create();
  await settled(2);
  backend.problem = 'no room';
  await create();
  await passed(20);
  await expect(create()).rejects.toThrow('no room');
  backend.problem = undefined;
  await create();
  await settled(4);
});

test('closing ends what waits and what is being made to wait, and then the backend', async () => {
  open({ minIdle: 2 });
  await create();
  await pool.close();
  expect([backend.living, backend.isClosed]).toEqual([1, true]);
});

function shape(memoryMb: number): Shape {
  const image = { name: 'none', ref: 'none', digest: 'none', directory: async () => '/', env: [] };
  return { image, cpus: 1, memoryMb, diskMb: 1 };
}

function greeting(): Buffer {
  const facts = Buffer.alloc(12);
  [PROTOCOL_VERSION, MAX_FRAME_BYTES, WINDOW_BYTES].forEach((value, index) => facts.writeUInt32LE(value, index * 4));
  return Buffer.concat([frameHeader(0, OP.hello, facts.length), facts]);
}

function refusal(stream: number): Buffer {
  const noEntry = Buffer.of(2, 0, 0, 0, 1);
  return Buffer.concat([frameHeader(stream, OP.fail, noEntry.length), noEntry]);
}
