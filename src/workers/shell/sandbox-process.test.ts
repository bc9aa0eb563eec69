/** Output of a command in a sandbox through its channel, from a sandbox worker that stalls, fails or sends other items. */
import { describe, expect, test } from 'vitest';

import { CallError, type Bus } from '#contract';
import { ChannelBroken, type ChannelItem, type ChannelReader, type ChannelRef } from '#protocol';
import { SandboxProcess } from './sandbox-process.ts';

/** A channel whose writer sends these items and then neither closes it nor sends more, unless it is `broken`. */
function stalledChannel(items: ChannelItem[], { isBroken = false } = {}) {
  const state = { isReleased: false };
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  async function* stream() {
    try {
      yield* items;
      if (isBroken) throw new ChannelBroken('its writer is gone');
      await released;
    } finally {
      state.isReleased = true;
    }
  }
  const iterator = stream();
  const reader: ChannelReader = { [Symbol.asyncIterator]: () => iterator, cancel: () => release() };
  return { state, reader };
}

/** `answer` may wait until the first piece was read. */
function start(reader: ChannelReader, answer: (read: Promise<void>) => Promise<unknown>) {
  let wasRead = () => {};
  const read = new Promise<void>((resolve) => (wasRead = resolve));
  const ref = (direction: ChannelRef['direction']) => ({ channel_id: 'c', access_key: 'k', direction });
  const bus: Bus = {
    createChannel: async () => ({ reader: ref('read'), writer: ref('write') }),
    openReader: async () => reader,
    openWriter: () => Promise.reject(new Error('not opened here')),
    call: () => answer(read),
  };
  const limits = { timeoutMs: 60_000, isWatched: true };
  const process = new SandboxProcess(bus, { kind: 'sandbox', argv: ['cat'], sandboxId: 's' }, limits);
  const collect = async () => {
    const pieces: string[] = [];
    for await (const { stream, bytes } of process.output) {
      pieces.push(`${stream}: ${bytes.toString()}`);
      wasRead();
    }
    return pieces;
  };
  const done = process.done.catch((error: unknown) => error);
  return { output: collect().catch((error: unknown) => error), done };
}

const reply = { stdout: 'one\n', stderr: '', exit_code: 0, duration_ms: 12, timed_out: false };
const failing = (code: string) => async (read: Promise<void>) => {
  await read;
  throw new CallError('sandbox::exec', { code, message: code });
};

describe('a worker that never closes the channel', () => {
  test.each([
    ['times out keeps what was read', 'TIMEOUT', { timedOut: true, exitCode: null }, ['stdout: one\n']],
    ['fails is that failure', 'S004', { code: 'S004' }, { code: 'S004' }],
  ])('the output after a call that %s', async (_, code, end, read) => {
    const { state, reader } = stalledChannel([Buffer.from('one\n')]);
    const { output, done } = start(reader, failing(code));
    expect(await done).toMatchObject(end);
    expect(await output).toMatchObject(read);
    expect(state.isReleased).toBe(true);
  });

  test('a worker that sends nothing through it answers with the output', async () => {
    const { state, reader } = stalledChannel([]);
    const { output } = start(reader, async () => reply);
    expect(await output).toEqual(['stdout: one\n', 'stderr: ']);
    expect(state.isReleased).toBe(true);
  });
});

test.each([
  ['that is not JSON', 'hello'],
  ['of another kind', '{"t":"exit"}'],
  ['without base64', '{"t":"err","base64":"?"}'],
  ['that is long', 'x'.repeat(5_000)],
])('a text item %s is S216, which names the worker and the item', async (_, item) => {
  const { state, reader } = stalledChannel([item]);
  const { output } = start(reader, async () => reply);
  expect(await output).toMatchObject({
    code: 'S216',
    message: expect.stringMatching(
      /^the worker of sandbox::exec sent ".{5,210}" through the output channel.*: update that worker$/,
    ),
  });
  expect(state.isReleased).toBe(true);
});

test('a channel that breaks ends the output, and the answer has the rest', async () => {
  const { reader } = stalledChannel([Buffer.from('on')], { isBroken: true });
  const { output, done } = start(reader, async () => ({ ...reply, streamed: true }));
  expect(await output).toEqual(['stdout: on']);
  expect(await done).toMatchObject({ exitCode: 0, printed: { stdout: Buffer.from('one\n') } });
});
