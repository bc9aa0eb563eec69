/** A third-party worker with one function, on a connection of its own. */
import { z } from 'zod';

import { connect } from '#client';
import { defineErrors, defineWorker, silentLog } from '#contract';
import { toToolName } from '#protocol';

export interface ForeignWorker extends AsyncDisposable {
  /** The name of its tool. */
  tool: string;
}

type Answer = Record<string, unknown>;

export interface ForeignFunction {
  id: string;
  effect?: 'read' | 'write';
  handle: (signal: AbortSignal) => Answer | Promise<Answer>;
}

/** On the bus when it resolves; `handle` is called with the signal of the call. */
export async function serveForeign(
  url: string,
  { id, effect = 'read', handle }: ForeignFunction,
): Promise<ForeignWorker> {
  const errors = defineErrors({ X1: { meaning: 'broken', http: 500, message: (_: object) => 'broken' } });
  const fail = () => errors.fail('X1', {});
  const worker = defineWorker({
    name: 'other',
    summary: 'Not one of ours.',
    config: z.object({}),
    errors,
    failures: { badInput: fail, internal: fail, deadline: fail },
    open: () => ({}),
  });
  const served = worker.defineFunction({
    id,
    summary: 'Do something that only the test knows.',
    effect,
    permissions: [],
    request: z.object({}),
    response: z.looseObject({}),
    errors: [],
    examples: [],
    handle: (_, __, { signal }) => handle(signal),
  });
  const connection = await connect(url, { name: 'other', log: silentLog });
  connection.serve({ def: worker.withFunctions([served]), context: {} });
  // An answer means that the registration before it was handled.
  await connection.call('engine::workers::list');
  return { tool: toToolName(id), [Symbol.asyncDispose]: async () => connection.close() };
}
