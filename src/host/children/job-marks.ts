/**
 * A mark that every process of a job inherits, for systems that offer nothing stronger.
 *
 * A server that may set its groups gives each job one supplementary group of its own: the group survives a new session,
 * a cleaned environment and any number of forks, and only a process that sets its groups itself loses it. Other servers
 * use an environment variable, which a cleaned environment loses.
 */
import { randomBytes, randomInt } from 'node:crypto';

import type { MarkPattern } from './processes.ts';
import type { Command } from './containments/containment.ts';

const VARIABLE = 'WORKCELL_JOB';
/** Groups from 2^31 on are unassigned; the last four digits are the job's. */
const GROUP_PREFIXES = { min: 214_749, max: 429_496 };
const JOBS_PER_PREFIX = 10_000;

export interface JobMarks {
  readonly pattern: MarkPattern;
  /** Words for the guardian, which searches with `grep -E`. */
  readonly guardianWords: readonly [file: string, pattern: string];
  /** A mark that no running job has. */
  next(taken: ReadonlySet<string | undefined>): string;
  /** Runs `start` so that the process it starts carries the mark. */
  put<T>(mark: string, command: Command, start: (command: Command) => T): T;
}

/** Undefined where a mark could not be read back. */
export function chooseJobMarks(): JobMarks | undefined {
  if (process.platform !== 'linux') return undefined;
  return groupMarks() ?? variableMarks();
}

/** Undefined when this process may not set its groups. */
export function groupMarks(): JobMarks | undefined {
  const prefix = String(randomInt(GROUP_PREFIXES.min, GROUP_PREFIXES.max));
  const ownGroups = process.getgroups!();
  try {
    process.setgroups!([...ownGroups, Number(`${prefix}0000`)]);
    process.setgroups!(ownGroups);
  } catch {
    return undefined;
  }
  let count = 0;
  return {
    pattern: { file: 'status', pattern: new RegExp(`^Groups:.*\\s(${prefix}\\d{4})\\s`, 'm') },
    guardianWords: ['status', `^Groups:.*[[:space:]]${prefix}[0-9]{4}[[:space:]]`],
    next(taken) {
      for (;;) {
        const mark = prefix + String(count++ % JOBS_PER_PREFIX).padStart(4, '0');
        if (!taken.has(mark)) return mark;
      }
    },
    put(mark, command, start) {
      process.setgroups!([...ownGroups, Number(mark)]);
      try {
        return start(command);
      } finally {
        process.setgroups!(ownGroups);
      }
    },
  };
}

export function variableMarks(): JobMarks {
  const id = randomBytes(8).toString('hex');
  let count = 0;
  return {
    pattern: { file: 'environ', pattern: new RegExp(`(?:^|\\0)${VARIABLE}=(${id}-\\d+)\\0`) },
    guardianWords: ['environ', `${VARIABLE}=${id}-`],
    next: () => `${id}-${count++}`,
    put: (mark, command, start) => start({ ...command, env: { ...command.env, [VARIABLE]: mark } }),
  };
}
