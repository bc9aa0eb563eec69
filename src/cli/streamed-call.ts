/** A command of the shell or of a sandbox whose output is printed as it comes, all of it. */
import { z } from 'zod';

import { CallError, throughDoor, type Bus, type CallOptions } from '#contract';
import { WAIT_MS } from './command-output.ts';
import { printing, printItems } from './live-output.ts';

const Streamed = z.object({ streamed: z.boolean().optional() });

/**
 * The output goes through a channel, so that none is cut; a slow terminal slows the command down. The reply says
 * whether the worker used it: another worker may not know such channels.
 */
export async function callStreaming(
  bus: Bus,
  functionId: string,
  payload: object,
  { signal }: Pick<CallOptions, 'signal'> = {},
): Promise<unknown> {
  const { reader, writer } = await bus.createChannel();
  const items = await bus.openReader(reader);
  const printed = printItems(items, printing());
  printed.catch(() => {});
  const options = { timeoutMs: WAIT_MS, metadata: throughDoor('cli'), ...(signal && { signal }) };
  try {
    const reply = await bus.call(functionId, { ...payload, output: writer }, options);
    if (Streamed.parse(reply).streamed) await printed;
    return reply;
  } catch (error) {
    if (error instanceof CallError && error.extra.streamed === true) await printed;
    throw error;
  } finally {
    // A command that did not start sends no output.
    items.cancel();
  }
}
