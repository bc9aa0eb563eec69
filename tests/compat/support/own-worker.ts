/** A small worker of ours: it echoes, fails with a code, or waits to be cancelled. */
import { z } from 'zod';

import { defineErrors, defineWorker } from '#contract';

export interface OwnContext {
  /** Called when a call waits, and with the reason when it stops waiting. */
  started(): void;
  stopped(reason: unknown): void;
}

const errors = defineErrors({
  C213: {
    meaning: 'Too large.',
    http: 413,
    message: (d: { size: number }) => `${d.size} bytes is too much`,
    fix: () => ({ max_bytes: 10 }),
  },
  bad_input: { meaning: 'Wrong request.', http: 400, message: (d: { problem: string }) => d.problem },
  internal: { meaning: 'A bug.', http: 500, message: (d: { callId: string }) => `see call ${d.callId}` },
  late: { meaning: 'Too slow.', http: 504, message: (d: { ms: number }) => `${d.ms} ms passed` },
});

const worker = defineWorker({
  name: 'own',
  summary: 'A worker of ours.',
  config: z.object({}),
  errors,
  failures: {
    badInput: (problem) => errors.fail('bad_input', { problem }),
    internal: (callId) => errors.fail('internal', { callId }),
    deadline: (ms) => errors.fail('late', { ms }),
  },
  open: (): OwnContext => quiet,
});

const shared = { effect: 'read', permissions: [], errors: [], examples: [] } as const;

const def = worker.withFunctions([
  worker.defineFunction({
    ...shared,
    id: 'own::echo',
    summary: 'Answers what it got.',
    request: z.object({ n: z.int() }),
    response: z.object({ n: z.int() }),
    handle: (request) => request,
  }),
  worker.defineFunction({
    ...shared,
    id: 'own::weigh',
    summary: 'Fails with a code.',
    request: z.object({ size: z.int() }),
    response: z.object({}),
    handle({ size }) {
      throw errors.fail('C213', { size });
    },
  }),
  worker.defineFunction({
    ...shared,
    id: 'own::wait',
    summary: 'Waits until its signal aborts.',
    request: z.object({}),
    response: z.string(),
    async handle(_request, context, { signal }) {
      context.started();
      await new Promise((aborted) => signal.addEventListener('abort', aborted));
      context.stopped(signal.reason);
      return 'stopped';
    },
  }),
]);

const quiet: OwnContext = { started() {}, stopped() {} };

export function ownWorker(context: OwnContext = quiet) {
  return { def, context };
}
