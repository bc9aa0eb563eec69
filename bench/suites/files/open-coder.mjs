/** coder in this process, called as the bus would call it. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { answer, CallControl, parseConfig, shippedCell, silentLog } from '#contract';
import { coder } from '#workers/coder';

export function has(id) {
  return coder.functions.some((fn) => fn.id === id);
}

let opened = 0;

/** Not that of the user running the benchmark. */
const STATE = join(tmpdir(), 'workcell-bench-state');

/**
 * A function that calls a function. Nothing that an earlier one has cached is known to it: with a list of its own it
 * shares nothing.
 */
export async function openCoder(base_path, config = {}, more = {}) {
  const cell = { ...shippedCell, state_dir: STATE, protect: [...shippedCell.protect, `opened-${++opened}`], ...more };
  const context = await coder.open(parseConfig(coder.config, { base_path, ...config }, 'coder'), silentLog, cell);
  const functions = new Map(coder.functions.map((fn) => [fn.id, fn]));
  return async (id, payload) => {
    const surroundings = { bus: undefined, log: silentLog, control: new CallControl() };
    const reply = await answer({ def: coder, context }, functions.get(id), { callId: '1', payload }, surroundings);
    if ('error' in reply) throw new Error(`${id}: ${reply.error.message}`);
    return reply.result;
  };
}
