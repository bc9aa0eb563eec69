import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker, Watched, watchFunction } from '#contract';
import { memoryLinks, type Dialer, type Frame, type FrameOf, type InvokeFrame, type Link } from '#protocol';
import { startEngine } from '#testing';
import { connect } from './connect.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** An engine that only listens: each dial makes a new link, whose frames are recorded. */
class Listener {
  readonly dials: { far: Link; got: Frame[]; closed: string[] }[] = [];
  /** The next dial waits for this promise. */
  gate: Promise<void> = Promise.resolve();
  isDown = false;

  dialer(redials = true): Dialer {
    return {
      redials,
      dial: async () => {
        await this.gate;
        if (this.isDown) throw new Error('no server listens');
        const [near, far] = memoryLinks();
        const dial = { far, got: [] as Frame[], closed: [] as string[] };
        far.attach({ frame: (frame) => dial.got.push(frame), closed: (reason) => dial.closed.push(reason) });
        this.dials.push(dial);
        return near;
      },
      openReader: () => Promise.reject(new Error('no channels here')),
      openWriter: () => Promise.reject(new Error('no channels here')),
    };
  }

  get last() {
    return this.dials.at(-1)!;
  }

  greet(features?: string[]): void {
    this.last.far.send({
      type: 'workerregistered',
      worker_id: `w${this.dials.length}`,
      reattach_token: 'secret',
      features,
    });
  }

  calls(functionId: string): InvokeFrame[] {
    return this.last.got
      .filter((frame) => frame.type === 'invokefunction')
      .filter((frame) => frame.function_id === functionId);
  }
}

const delivered = () => new Promise<void>((resolve) => setImmediate(resolve));

const errors = defineErrors({
  BUG: { meaning: '', http: 500, message: (d: { callId: string }) => `bug in ${d.callId}` },
});
const fail = (callId: string) => errors.fail('BUG', { callId });
const worker = defineWorker({
  name: 'w',
  summary: '',
  config: z.strictObject({}),
  errors,
  failures: { badInput: fail, internal: fail, deadline: () => fail('late') },
  open: () => ({}),
});
const any = {
  effect: 'read',
  permissions: [],
  request: z.object({}),
  response: z.unknown(),
  errors: [],
  examples: [],
  summary: '',
} as const;
const served = {
  context: {},
  def: worker.withFunctions([
    { ...any, id: 'w::echo', request: z.object({ x: z.unknown() }), handle: ({ x }) => x },
    { ...any, id: 'w::bigint', handle: () => ({ n: 1n }) },
    {
      ...any,
      id: 'w::wait',
      handle: (_, __, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
    },
  ]),
};

test('the first frames register the worker and its functions; after a loss they reattach first', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer(), { name: 'me', namespace: 'n', description: 'd' });
  bus.serve(served);
  listener.greet(['cancel']);
  await delivered();
  const kinds = () => listener.last.got.map((frame) => ('id' in frame ? `${frame.type} ${frame.id}` : frame.type));
  const registrations = ['registerfunction w::echo', 'registerfunction w::bigint', 'registerfunction w::wait'];
  expect(kinds()).toEqual(['invokefunction', ...registrations]);
  expect(listener.last.got[0]).toMatchObject({
    function_id: 'engine::workers::register',
    data: {
      name: 'me',
      namespace: 'n',
      description: 'd',
      pid: process.pid,
      features: ['cancel', 'caller', 'changes', 'events', 'on_behalf'],
    },
  });

  listener.last.far.close('restart');
  await delivered();
  await vi.advanceTimersByTimeAsync(1_300);
  await delivered();
  expect(kinds()).toEqual(['reattach', 'invokefunction', ...registrations]);
  expect(listener.last.got[0]).toEqual({ type: 'reattach', previous_worker_id: 'w1', reattach_token: 'secret' });
  bus.close();
});

test('pending calls fail with the connection; calls made while offline are sent after reconnecting', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  const waiting = bus.call('f', 'before');
  listener.last.far.close('gone');
  await expect(waiting).rejects.toMatchObject({
    code: 'connection_lost',
    message: expect.stringContaining('may have run'),
  });

  const kept = bus.call('f', 'meanwhile');
  const impatient = bus.call('f', 'impatient', { timeoutMs: 100 });
  const failure = impatient.catch((reason: unknown) => reason);
  await vi.advanceTimersByTimeAsync(1_300);
  expect(await failure).toMatchObject({ code: 'TIMEOUT' });
  await delivered();
  const sent = listener.calls('f');
  expect(sent.map((frame) => frame.data)).toEqual(['meanwhile']);
  listener.last.far.send({
    type: 'invocationresult',
    invocation_id: sent[0]!.invocation_id!,
    result: 'late but right',
  });
  expect(await kept).toBe('late but right');
  bus.close();
});

test('reconnects with a growing delay until an engine listens', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  listener.isDown = true;
  listener.last.far.close('gone');
  await delivered();
  for (const mostMs of [1_300, 2_600, 5_200]) await vi.advanceTimersByTimeAsync(mostMs);
  expect(listener.dials).toHaveLength(1);
  listener.isDown = false;
  await vi.advanceTimersByTimeAsync(39_000);
  expect(listener.dials).toHaveLength(2);
  bus.close();
});

test('close() during a dial closes the new connection too', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  let open = () => {};
  listener.gate = new Promise((resolve) => (open = resolve));
  listener.last.far.close('gone');
  await delivered();
  await vi.advanceTimersByTimeAsync(1_300);
  bus.close();
  open();
  await delivered();
  expect(listener.dials).toHaveLength(2);
  expect(listener.last).toMatchObject({ got: [], closed: ['closed by the client'] });
  expect(vi.getTimerCount()).toBe(0);
});

test('close() fails pending calls, aborts running handlers and refuses new calls', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  bus.serve(served);
  listener.last.far.send({ type: 'invokefunction', invocation_id: '1', function_id: 'w::wait', data: {} });
  await delivered();
  const waiting = bus.call('f');
  bus.close();
  bus.close();
  await expect(waiting).rejects.toMatchObject({ code: 'connection_closed' });
  await expect(bus.call('f')).rejects.toMatchObject({ code: 'connection_closed' });
  await delivered();
  expect([listener.last.closed, listener.dials.length]).toEqual([['closed by the client'], 1]);
  // The one timer watches the deadline of the served call.
  expect(vi.getTimerCount()).toBe(1);
});

test('a connection that cannot be dialled again fails calls at once instead of queueing them', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer(false));
  listener.last.far.close('gone');
  await delivered();
  await expect(bus.call('f')).rejects.toMatchObject({
    code: 'send_failed',
    message: 'the call could not be sent: closed',
  });
  bus.close();
});

test('queued calls have a cap', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  listener.isDown = true;
  listener.last.far.close('gone');
  await delivered();
  const kept = Array.from({ length: 1_000 }, () => bus.call('f'));
  await expect(bus.call('f')).rejects.toMatchObject({
    code: 'send_failed',
    message: 'the call could not be sent: full',
  });
  bus.close();
  await Promise.allSettled(kept);
});

test.each([
  [['cancel'], ['cancelinvocation']],
  [[], []],
  [undefined, []],
])('an engine that announced %j gets these frames for a cancelled call: %j', async (features, frames) => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  listener.greet(features);
  await delivered();
  const call = bus.call('f', {}, { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
  await delivered();
  expect(listener.last.got.filter((frame) => frame.type === 'cancelinvocation').map((frame) => frame.type)).toEqual(
    frames,
  );
  bus.close();
});

test('serves calls, cancels them on request, and answers pings', async () => {
  const listener = new Listener();
  const bus = await connect(listener.dialer());
  bus.serve(served);
  const { far, got } = listener.last;
  const call = (invocation_id: string | undefined, function_id: string, data: unknown = {}) =>
    far.send({ type: 'invokefunction', invocation_id, function_id, data });
  call('1', 'w::echo', { x: 7 });
  call(undefined, 'w::echo', { x: 'void' });
  call('2', 'w::none');
  call('3', 'w::wait');
  far.send({ type: 'ping' });
  await delivered();
  far.send({ type: 'cancelinvocation', invocation_id: '3' });
  far.send({ type: 'cancelinvocation', invocation_id: 'unknown' });
  await delivered();

  const results = got.filter((frame): frame is FrameOf<'invocationresult'> => frame.type === 'invocationresult');
  expect(
    Object.fromEntries(results.map(({ invocation_id, result, error }) => [invocation_id, error ?? result])),
  ).toEqual({
    1: 7,
    2: { code: 'function_not_found', message: 'Function not found' },
    3: 'stopped',
  });
  expect(got.filter((frame) => frame.type === 'pong')).toHaveLength(1);
  bus.close();
});

test('what JSON cannot carry fails the one call, on either side of it', async () => {
  vi.useRealTimers();
  await using engine = await startEngine();
  const [near, far] = [await connect(engine.engine.dialer()), await connect(engine.url)];
  far.serve(served);
  await expect.poll(() => far.call('w::echo', { x: 1 }).catch(String)).toBe(1);

  await expect(far.call('w::echo', { x: 1n })).rejects.toMatchObject({
    code: 'send_failed',
    message: 'the call could not be sent: not-json',
  });
  await expect(near.call('w::echo', { x: 1n })).rejects.toMatchObject({ code: 'not_json' });
  for (const bus of [near, far]) {
    await expect(bus.call('w::bigint')).rejects.toMatchObject({
      code: 'BUG',
      message: expect.stringMatching(/^bug in /),
    });
    expect(await bus.call('w::echo', { x: 2 })).toBe(2);
  }
  near.close();
  far.close();
});

test('what JSON cannot carry, returned in the engine’s own process, is the caller’s error too', async () => {
  vi.useRealTimers();
  await using engine = await startEngine();
  const [near, far] = [await connect(engine.engine.dialer()), await connect(engine.url)];
  near.serve(served);
  await expect.poll(() => far.call('w::echo', { x: 1 }).catch(String)).toBe(1);
  await expect(far.call('w::bigint')).rejects.toMatchObject({
    code: 'not_json',
    message: expect.stringContaining('cannot be written as JSON: it may be nested too deep or hold a BigInt; '),
  });
  near.close();
  far.close();
});

test('a worker with watchers closes without waiting for them', async () => {
  vi.useRealTimers();
  await using engine = await startEngine();
  const [near, leaving] = [await connect(engine.engine.dialer()), await connect(engine.engine.dialer())];
  const watched = new Watched();
  const watch = worker.defineFunction({
    ...watchFunction,
    permissions: [],
    ...{ id: 'w::watch', summary: '', errors: [] },
    handle: (_, __, scope) => watched.report(scope),
  });
  leaving.serve({ context: {}, def: worker.withFunctions([watch]) });
  await leaving.call('engine::workers::list');

  const watching = near.stream('w::watch');
  const heard = watching[Symbol.asyncIterator]();
  await near.call('engine::workers::list');
  watched.changed('x');
  expect((await heard.next()).value).toEqual({ type: 'changed', what: ['x'] });
  await leaving.finish(60_000);
  expect(await watching.result).toEqual({});
  near.close();
});
