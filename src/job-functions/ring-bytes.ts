/** How much of the last output of a job is kept for readers while it runs. */
import { wire } from '#contract';

export const DEFAULT_RING_BYTES = 2 ** 20;

export const ringBytes = wire
  .uint64()
  .min(1024)
  .max(16 * 2 ** 20)
  .nullish()
  .describe('How much of the last output is kept for readers: 1 KiB to 16 MiB, 1 MiB when left out.');
