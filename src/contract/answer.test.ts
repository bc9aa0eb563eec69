import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

import { answer } from './answer.ts';
import { CallControl } from './answering/call-control.ts';
import type { Bus } from './bus.ts';
import type { CallScope } from './call-scope.ts';
import { defineErrors, type Failure } from './define-errors.ts';
import { DEFAULT_DEADLINE_MS, type FunctionDef } from './define-function.ts';
import { defineWorker } from './define-worker.ts';
import type { LogFields } from './log.ts';

const errors = defineErrors({
  BAD: { meaning: '', http: 400, message: (d: { problem: string }) => d.problem },
  BUG: { meaning: '', http: 500, message: (d: { callId: string }) => `internal error in call ${d.callId}` },
  LATE: { meaning: '', http: 504, message: (d: { ms: number }) => `nothing within ${d.ms} ms` },
  DISK: { meaning: '', http: 507, message: (_: object) => 'the disk is full', fix: () => ({ retry: false }) },
});
const { fail } = errors;

const worker = defineWorker({
  name: 'test',
  summary: '',
  config: z.strictObject({}),
  errors,
  failures: {
    badInput: (problem) => fail('BAD', { problem }),
    internal: (callId) => fail('BUG', { callId }),
    deadline: (ms) => fail('LATE', { ms }),
  },
  translate: (error) => ((error as { code?: string } | undefined)?.code === 'ENOSPC' ? fail('DISK', {}) : undefined),
  open: () => ({ prefix: '>' }),
});

type Context = { prefix: string };
type Handle = FunctionDef<Context>['handle'];

const request = z.object({ name: z.string().default('you'), n: z.int().optional() });
const bus = {} as Bus;

function functionOf(handle: Handle, deadlineMs?: number): FunctionDef<Context> {
  const shape = { id: 'test::fn', summary: '', effect: 'read' as const, request, response: z.unknown() };
  return { ...shape, permissions: [], errors: [], examples: [], deadlineMs, handle };
}

function run(handle: Handle, payload?: unknown, options: { deadlineMs?: number; control?: CallControl } = {}) {
  return call(functionOf(handle, options.deadlineMs), payload, options.control);
}

async function call(fn: FunctionDef<Context>, payload: unknown, control = new CallControl()) {
  const logged: [string, LogFields | undefined][] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (...line: [string, LogFields?]) => void logged.push([line[0], line[1]]),
  };
  const reply = await answer(
    { def: worker, context: { prefix: '>' } },
    fn,
    { callId: 'call-1', payload, callerId: 'w' },
    { bus, log, control },
  );
  return { reply, logged };
}

const coded = (fields: object) => ({
  error: { code: 'invocation_failed', message: JSON.stringify(fields) },
});

test.each([undefined, null, {}])('the payload %j counts as {}, and defaults are filled in', async (payload) => {
  const { reply } = await run((parsed, { prefix }) => ({ parsed, prefix }), payload);
  expect(reply).toEqual({ result: { parsed: { name: 'you' }, prefix: '>' } });
});

test('a handler may return any value or a promise of it', async () => {
  expect((await run(() => 'now')).reply).toEqual({ result: 'now' });
  expect((await run(() => Promise.resolve('later'))).reply).toEqual({ result: 'later' });
  expect((await run(() => undefined)).reply).toEqual({ result: undefined });
});

test.each([
  [{ name: 7 }, '`name` must be a string (got a number)'],
  [{ n: 1.5 }, '`n` must be an integer (got a number)'],
  ['text', 'the payload must be an object (got a string)'],
  [[], 'the payload must be an object (got an array)'],
])('the payload %j is refused before the handler runs', async (payload, message) => {
  const handle = vi.fn();
  expect((await run(handle, payload)).reply).toEqual(coded({ code: 'BAD', message }));
  expect(handle).not.toHaveBeenCalled();
});

test.each<[string, Handle]>([
  [
    'thrown',
    () => {
      throw fail('DISK', {});
    },
  ],
  ['rejected with', () => Promise.reject(fail('DISK', {}))],
  [
    'made of a known host error',
    () => Promise.reject(Object.assign(new Error('ENOSPC: /home/secret'), { code: 'ENOSPC' })),
  ],
])('a failure that is %s is the answer, and no bug', async (_, handle) => {
  const { reply, logged } = await run(handle, { name: 'a' });
  expect(reply).toEqual(coded({ code: 'DISK', message: 'the disk is full', fix: { name: 'a', retry: false } }));
  expect(logged).toEqual([]);
});

test.each([
  ['none', undefined, { fix: { retry: false } }],
  ['one that has the field of the fix already', { retry: true }, { fix: { retry: false } }],
  [
    'one too long to be repeated',
    { name: 'x'.repeat(20_000) },
    { fix_note: 'Change {"retry":false} in the request and send it again, which is too long to be repeated here.' },
  ],
  [
    'one whose channel is used up',
    { content: { channel_id: 'a', access_key: 'b', direction: 'read' } },
    { fix_note: 'Change {"retry":false} in the request and send it again, with a new channel.' },
  ],
])('the next request after %s', async (_, payload, next) => {
  const { reply } = await run(() => Promise.reject(fail('DISK', {})), payload);
  expect(reply).toEqual(coded({ code: 'DISK', message: 'the disk is full', ...next }));
});

test.each([
  [
    'an Error',
    new TypeError('cannot read /home/secret'),
    expect.stringContaining('TypeError: cannot read /home/secret\n'),
  ],
  ['a text', 'secret', 'secret'],
  ['undefined', undefined, 'undefined'],
])('%s thrown by a handler is logged in full and answered with the call id only', async (_, thrown, stack) => {
  const { reply, logged } = await run(async () => {
    // oxlint-disable-next-line typescript/only-throw-error -- handlers can
    throw thrown;
  });
  expect(reply).toEqual(coded({ code: 'BUG', message: 'internal error in call call-1' }));
  expect(logged).toEqual([['unexpected error in a handler', { function: 'test::fn', call: 'call-1', stack }]]);
});

test.each<[string, (reason: Error) => Error]>([
  ['the reason', (reason) => reason],
  ["the platform's error around it", (reason) => new DOMException('aborted', { name: 'AbortError', cause: reason })],
])('%s of the abort of a call is not a bug', async (_, thrownFor) => {
  const control = new CallControl();
  const reason = new Error('the caller left');
  control.abort(reason);
  const { reply, logged } = await run(() => Promise.reject(thrownFor(reason)), {}, { control });
  expect(reply).toEqual(coded({ code: 'BUG', message: 'internal error in call call-1' }));
  expect(logged).toEqual([]);
});

test('an unexpected error in an aborted call is still logged', async () => {
  const control = new CallControl();
  control.abort(new Error('the caller left'));
  const { logged } = await run(() => Promise.reject(new TypeError('x')), {}, { control });
  expect(logged).toHaveLength(1);
});

test('bus.P15 a payload of millions of wrong values is refused before each is reported', async () => {
  const { reply } = await run(() => 'never', { n: Array.from({ length: 2_000_000 }, () => 0) });
  expect(reply).toEqual(coded({ code: 'BAD', message: 'the payload holds more than 131072 values' }));
});

test('onAbort fires when the signal of the call aborts, and not before', async () => {
  const control = new CallControl();
  const reason = new Error('gone');
  const seen: unknown[] = [];
  const looking: Handle = (_, __, scope: CallScope) => {
    seen.push(scope.throwIfAborted());
    control.abort(reason);
    try {
      scope.throwIfAborted();
    } catch (thrown) {
      seen.push(thrown, scope.signal.reason);
    }
    return 1;
  };
  expect((await run(looking, {}, { control })).reply).toEqual({ result: 1 });
  expect(seen).toEqual([undefined, reason, reason]);
});

describe('the deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const untilAborted: Handle = (_, __, { signal }: CallScope) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  test.each([
    [undefined, DEFAULT_DEADLINE_MS],
    [50, 50],
  ])('given as %j, aborts the signal and answers at %i ms', async (deadlineMs, atMs) => {
    const control = new CallControl();
    const running = run(untilAborted, {}, { deadlineMs, control });
    await vi.advanceTimersByTimeAsync(atMs - 1);
    expect(control.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(control.signal.aborted).toBe(true);
    expect((await running).reply).toEqual(coded({ code: 'LATE', message: `nothing within ${atMs} ms` }));
  });

  test('answers also when the handler ignores its signal', async () => {
    const running = run(() => new Promise(() => {}), {}, { deadlineMs: 50 });
    await vi.advanceTimersByTimeAsync(50);
    expect((await running).reply).toEqual(coded({ code: 'LATE', message: 'nothing within 50 ms' }));
  });

  test('does not abort the signal of a handler that has answered in time', async () => {
    const controls = [new CallControl(), new CallControl()];
    await run(() => Promise.resolve(1), {}, { control: controls[0] });
    await run(() => Promise.reject(fail('DISK', {})), {}, { control: controls[1] });
    await vi.advanceTimersByTimeAsync(DEFAULT_DEADLINE_MS);
    expect(controls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('uses one timer for all calls of a function', async () => {
    const fn = functionOf(() => new Promise(() => {}), 50);
    const running = Array.from({ length: 3 }, () => call(fn, {}));
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(50);
    expect(await Promise.all(running)).toHaveLength(3);
  });

  test('ignores a handler that fails after the deadline', async () => {
    const running = run(
      () => new Promise((_, reject) => void setTimeout(() => reject(new Error('late')), 100)),
      {},
      { deadlineMs: 50 },
    );
    await vi.advanceTimersByTimeAsync(200);
    expect(await running).toMatchObject({ logged: [] });
  });
});

describe('the signal of a call', () => {
  test('is created on first access and only once', () => {
    let made = 0;
    const Counted = class extends AbortController {
      constructor() {
        super();
        made++;
      }
    };
    vi.stubGlobal('AbortController', Counted);
    const control = new CallControl();
    control.abort(new Error('early'));
    expect(made).toBe(0);
    expect(control.signal).toBe(control.signal);
    expect(made).toBe(1);
    vi.unstubAllGlobals();
  });

  test('carries the first reason, whether it is accessed before or after the abort', () => {
    const [first, second] = [new Error('first'), new Error('second')];
    const early = new CallControl();
    early.abort(first);
    early.abort(second);
    const late = new CallControl();
    const { signal } = late;
    late.abort(first);
    late.abort(second);
    expect([early.signal.reason, signal.reason]).toEqual([first, first]);
  });
});

test('filesystem.P1 a worker without failed calls answers every failure as a result, a malformed request and a bug too', async () => {
  const failedResult = ({ code, message }: Failure) => ({ success: false, error: message, code });
  const handle = (parsed: { n?: number }) => {
    if (parsed.n === 1) throw fail('DISK', {});
    throw new Error('a bug');
  };
  const fn: FunctionDef<Context> = {
    id: 'test::fn',
    summary: '',
    effect: 'read',
    permissions: [],
    request,
    response: z.unknown(),
    errors: [],
    examples: [],
    handle,
  };
  const def = { ...worker, failedResult };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const replies = [{ n: 1 }, { n: 'x' }, {}].map((payload) =>
    answer({ def, context: { prefix: '>' } }, fn, { callId: 'c-1', payload }, { bus, log, control: new CallControl() }),
  );
  expect(await Promise.all(replies)).toEqual([
    { result: { success: false, error: 'the disk is full', code: 'DISK' } },
    { result: { success: false, error: '`n` must be a number (got a string)', code: 'BAD' } },
    { result: { success: false, error: 'internal error in call c-1', code: 'BUG' } },
  ]);
});
