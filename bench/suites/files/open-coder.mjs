/** coder in this process, called as the bus would call it. */
import { answer, CallControl, parseConfig, silentLog } from '#contract';
import { coder } from '#workers/coder';

export function has(id) {
  return coder.functions.some((fn) => fn.id === id);
}

/** A function that calls a function. Nothing that an earlier one has cached is known to it. */
export async function openCoder(base_path, config = {}) {
  const context = await coder.open(parseConfig(coder.config, { base_path, ...config }, 'coder'), silentLog);
  const functions = new Map(coder.functions.map((fn) => [fn.id, fn]));
  return async (id, payload) => {
    const surroundings = { bus: undefined, log: silentLog, control: new CallControl() };
    const reply = await answer({ def: coder, context }, functions.get(id), { callId: '1', payload }, surroundings);
    if ('error' in reply) throw new Error(`${id}: ${reply.error.message}`);
    return reply.result;
  };
}
