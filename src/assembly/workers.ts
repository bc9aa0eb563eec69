/** The workers this build can run, in the order `start` runs them. */
import type { AnyWorker } from '#contract';
import { agent } from '#workers/agent';
import { change } from '#workers/change';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { sandbox } from '#workers/sandbox';
import { shell } from '#workers/shell';

export const availableWorkers: readonly AnyWorker[] = [coder, shell, filesystem, change, sandbox, agent];
