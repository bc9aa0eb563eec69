/**
 * Connects this terminal to a background job of a worker: its output from the beginning, and its input if it has one.
 */
import { z } from 'zod';

import { CallError, type Bus } from '#contract';
import { ChannelRefSchema } from '#protocol';
import { EXIT } from './exit-codes.ts';
import { printing, printItems } from './live-output.ts';
import { typeInto } from './typed-input.ts';

const Attached = z.object({ reader: ChannelRefSchema, writer: ChannelRefSchema.optional(), next: z.int() });
const Status = z.object({ job: z.object({ terminal: z.boolean().optional() }) });

export interface AttachedJob {
  readonly worker: 'shell' | 'sandbox';
  readonly jobId: string;
}

/** The exit code of the job, 1 when a signal ended it; undefined after a detach. */
export async function attachJob(bus: Bus, { worker, jobId }: AttachedJob): Promise<number | undefined> {
  const { job } = Status.parse(await bus.call(`${worker}::status`, { job_id: jobId }));
  const isTerminal = job.terminal === true;
  const { reader, writer } = await attached(bus, { worker, jobId });
  const items = await bus.openReader(reader);
  const typing = writer && typeInto(await bus.openWriter(writer), { isTerminal, leave: () => items.cancel() });
  try {
    const exit = await printItems(items, printing({ isRaw: isTerminal }));
    return exit && (exit.exit_code ?? EXIT.failed);
  } finally {
    typing?.[Symbol.dispose]();
  }
}

/** Attaches, with input if the job takes any. */
async function attached(bus: Bus, { worker, jobId }: AttachedJob): Promise<z.output<typeof Attached>> {
  try {
    return Attached.parse(await bus.call(`${worker}::attach`, { job_id: jobId, input: true }));
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'S221') throw error;
    return Attached.parse(await bus.call(`${worker}::attach`, { job_id: jobId }));
  }
}
