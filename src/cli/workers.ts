/** The workers this build can run, in the order `start` runs them. */
import type { AnyWorker } from '#contract';
import { coder } from '#workers/coder';

export const availableWorkers: readonly AnyWorker[] = [coder];
