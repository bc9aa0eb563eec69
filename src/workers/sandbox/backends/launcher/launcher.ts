/** Builds the launchers, and makes their arguments. */
import { randomInt } from 'node:crypto';

import { buildProgram, MOUNT_SOURCES, sourcePath } from '#sandbox/guest';
import type { LimitGroup } from '../../limits/limits.ts';

/** First of the id ranges of sandboxes, above the ids that systems give to people and containers. */
const FIRST_ID = 0x7000_0000;
const RANGES = 4096;
const IDS = 65_536;

/** Random start, so that other daemons use other ranges. */
let nextRange = randomInt(RANGES);

const OWN_SOURCES = ['launching.c', 'launching.h', 'memory-watch.c', 'memory-watch.h'];
const SHARED_SOURCES = [...OWN_SOURCES.map((name) => sourcePath(name, import.meta.url)), ...MOUNT_SOURCES];

/** `source` is the source file of the backend. */
export function buildLauncher(name: string, source: string, cacheDir: string): Promise<string> {
  return buildProgram({ name, sources: [source, ...SHARED_SOURCES], cacheDir });
}

export interface MachineOptions {
  id: string;
  rootDir: string;
  agent: string;
  diskMb: number;
  /** Files of the cgroup that holds its limits. */
  entrances: readonly string[];
}

export function launcherArguments({ id, rootDir, agent, diskMb, entrances }: MachineOptions): string[] {
  const options: [name: string, value: string | number][] = [
    ['--root', rootDir],
    ['--agent', agent],
    ['--disk-mb', diskMb],
    ['--hostname', hostnameOf(id)],
    ...entrances.map((file): [string, string] => ['--cgroup', file]),
  ];
  if (isRoot()) options.push(['--first-id', FIRST_ID + (nextRange++ % RANGES) * IDS]);
  return options.flatMap(([name, value]) => [name, String(value)]);
}

/** Memory of the launcher, the agent and pages that are charged in advance. */
const SLACK_MB = 16;

/** Makes the launcher measure the sandbox's memory if no cgroup does. */
export function watchArguments({ entrances }: LimitGroup, memoryMb: number): string[] {
  return entrances.length > 0 ? [] : ['--watch-mb', `${memoryMb + SLACK_MB}`];
}

export function hostnameOf(id: string): string {
  return `sandbox-${id.slice(0, 8)}`;
}

/** Root's sandboxes get ids of their own that no account here has; a user's sandbox has one id, the user's. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
