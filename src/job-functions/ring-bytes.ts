/** How much of the last output of a job is kept for readers while it runs. */
import { wire } from '#contract';

export const DEFAULT_RING_BYTES = 2 ** 20;

export const ringBytes = wire
  .uint64()
  .min(1024)
  .max(16 * 2 ** 20)
  .nullish()
  .describe('Bytes of the last output that are kept for readers: 1 KiB to 16 MiB, default 1 MiB.');
