/**
 * A guest that answers searches with too much: names without end, files larger than they were, lines that
 * all match. The host stops asking, reports why, and keeps no more than its limit.
 */
import { describe, expect, test } from 'vitest';

import { RegexThreads, type GrepRequest } from '#host';
import { frameHeader, FrameReader, OP, WINDOW_BYTES } from '../../../src/sandbox/guest/frames.ts';
import { GuestError } from '../../../src/sandbox/guest/guest-error.ts';
import { GuestFiles } from '../../../src/sandbox/guest/guest-files.ts';
import { grepGuest } from '../../../src/sandbox/guest/guest-grep.ts';
import { duplexPair, greet } from './sandbox-duplex.ts';

const PIECE_BYTES = 64 * 1024;
const PATIENCE_MS = 60_000;
const scope = () => ({ signal: AbortSignal.timeout(PATIENCE_MS / 2) });

const GREP: GrepRequest = {
  path: '/t',
  pattern: 'x',
  recursive: true,
  includeGlobs: [],
  excludeGlobs: [],
  ignoreCase: false,
  maxMatches: 2 ** 30,
  maxLineBytes: 2 ** 30,
};

describe('the names of a tree', () => {
  test(
    'sandbox.P12 paths of more than 64 MiB are refused, and the error says how to ask for less',
    async () => {
      let sent = 0;
      const names = function* () {
        for (; sent < 40_000; sent++) yield row('f', `${sent}`.padStart(4000, 'd'));
      };
      const files = await guestFiles({ [OP.walk]: names });
      await expect(grep(files)).rejects.toMatchObject({
        reason: 'bad-request',
        message: expect.stringMatching(/^files whose paths take more than 67108864 bytes below \/t; .*include_glob/),
      });
      expect(sent).toBeLessThan(20_000);
    },
    PATIENCE_MS,
  );

  test(
    'more than 200 000 entries are refused',
    async () => {
      const names = function* () {
        for (let i = 0; i < 300_000; i++) yield row('d', `${i}`);
      };
      const files = await guestFiles({ [OP.walk]: names });
      await expect(grep(files)).rejects.toMatchObject({
        reason: 'bad-request',
        message: expect.stringMatching(/^more than 200000 entries below \/t; /),
      });
    },
    PATIENCE_MS,
  );
});

describe('the bytes of files', () => {
  test(
    'sandbox.P12 each is searched before the next is taken, whatever its size was said to be',
    async () => {
      let sent = 0;
      const contents = function* () {
        for (; sent < 200; sent++) yield* content(Buffer.alloc(4 * PIECE_BYTES, 'x\n'.padEnd(PIECE_BYTES, '-')));
      };
      const files = await guestFiles({ [OP.walk]: () => fileRows(200), [OP.readMany]: contents });
      expect(await grep(files, { maxMatches: 1 })).toMatchObject({ matches: [{ line: 1 }], isTruncated: true });
      expect(sent).toBeLessThan(4);
    },
    PATIENCE_MS,
  );

  test('one that grew over the limit is too large, and the next one is what it is', async () => {
    const contents = () => [...content(Buffer.alloc(1001)), ...content(Buffer.from('ok'))];
    const files = await guestFiles({ [OP.readMany]: contents });
    const read = [];
    for await (const one of files.readMany(['/a', '/b'], { maxBytes: 1000, ...scope() })) read.push(one);
    expect(read).toEqual([
      { path: '/a', content: expect.any(GuestError) },
      { path: '/b', content: Buffer.from('ok') },
    ]);
    expect(read[0]!.content).toMatchObject({ code: 'EFBIG' });
  });

  test('one that sends more after that ends the connection', async () => {
    const contents = () => [...content(Buffer.alloc(5 * PIECE_BYTES))];
    const files = await guestFiles({ [OP.readMany]: contents });
    const reading = files.readMany(['/a'], { maxBytes: 1000, ...scope() }).next();
    await expect(reading).rejects.toMatchObject({ breach: 'payload' });
  });
});

describe('the lines that match', () => {
  test.each([
    ['no more than 100 000', 'x\n'.repeat(150_000), 100_000],
    ['no more than 32 MiB of text, and the line that fills it', `${'x'.repeat(2 ** 20 - 1)}\n`.repeat(40), 32],
  ])('%s', async (_, text, matches) => {
    const files = await guestFiles({ [OP.walk]: () => fileRows(1), [OP.readMany]: () => content(Buffer.from(text)) });
    const answer = await grep(files);
    expect([answer.matches.length, answer.isTruncated]).toEqual([matches, true]);
    expect(answer.matches.at(-1)).toMatchObject({ path: '/t/000', line: matches });
  });
});

async function grep(files: GuestFiles, more: Partial<GrepRequest> = {}) {
  const regexes = new RegexThreads();
  try {
    return await grepGuest({ files, regexes }, { ...GREP, ...more }, scope());
  } finally {
    await regexes.close();
  }
}

type Script = () => Iterable<Buffer>;

/** A guest that answers operations by its scripts, as fast as it is given credit; any path is a directory. */
async function guestFiles(scripts: Record<number, Script>): Promise<GuestFiles> {
  const { host, guest } = duplexPair();
  const send = (stream: number, op: number, payload: Buffer) =>
    guest.write(Buffer.concat([frameHeader(stream, op, payload.length), payload]));
  const streams = new Map<number, { creditBytes: number; isOver: boolean; wake: () => void }>();

  async function play(stream: number, script: Script): Promise<void> {
    const state = { creditBytes: WINDOW_BYTES, isOver: false, wake: () => {} };
    streams.set(stream, state);
    for (const bytes of script()) {
      for (let at = 0; at < bytes.length && !state.isOver;) {
        if (state.creditBytes === 0) await new Promise<void>((resolve) => (state.wake = resolve));
        const piece = bytes.subarray(at, at + Math.min(PIECE_BYTES, state.creditBytes));
        state.creditBytes -= piece.length;
        at += piece.length;
        if (!state.isOver && piece.length > 0) send(stream, OP.data, piece);
      }
      if (state.isOver) break;
    }
    send(stream, OP.done, Buffer.alloc(0));
  }

  const reader = new FrameReader();
  guest.on('data', (piece: Buffer) => {
    for (const { stream, op, payload } of reader.read(piece)) {
      const state = streams.get(stream);
      if (op === OP.stat) send(stream, OP.done, row('d', ''));
      else if (scripts[op]) void play(stream, scripts[op]);
      if (!state) continue;
      if (op === OP.credit) state.creditBytes += payload.readUInt32LE(0);
      if (op === OP.cancel) state.isOver = true;
      state.wake();
    }
  });
  return new GuestFiles(await greet(host, guest));
}

function row(kind: string, name: string): Buffer {
  const bytes = Buffer.alloc(31 + name.length);
  bytes.write(kind);
  bytes.writeUInt16LE(name.length, 29);
  bytes.write(name, 31);
  return bytes;
}

function* fileRows(count: number): Generator<Buffer> {
  for (let i = 0; i < count; i++) yield row('f', `${i}`.padStart(3, '0'));
}

/** As the agent sends a file: its errno, pieces with their lengths, and an empty one. */
function* content(bytes: Buffer): Generator<Buffer> {
  yield number(0);
  for (let at = 0; at < bytes.length; at += 4 * PIECE_BYTES) {
    const piece = bytes.subarray(at, at + 4 * PIECE_BYTES);
    yield number(piece.length);
    yield piece;
  }
  yield number(0);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
