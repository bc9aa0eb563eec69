/** The programs that make the place of a machine: how they are built, and what each of them is told. */
import { randomInt } from 'node:crypto';

import { buildProgram, PLACE_SOURCES, sourcePath } from '#sandbox/guest';
import type { LimitGroup } from '../../limits/limits.ts';

/** Above what systems give to people and containers; a range of its own for each of many sandboxes. */
const FIRST_ID = 0x7000_0000;
const RANGES = 4096;
const IDS = 65_536;

/** Other daemons begin elsewhere. */
let nextRange = randomInt(RANGES);

const OWN_SOURCES = ['launching.c', 'launching.h', 'memory-watch.c', 'memory-watch.h'];
const SHARED_SOURCES = [...OWN_SOURCES.map((name) => sourcePath(name, import.meta.url)), ...PLACE_SOURCES];

/** `source` is the backend's part of it. */
export function buildLauncher(name: string, source: string, cacheDir: string): Promise<string> {
  return buildProgram({ name, sources: [source, ...SHARED_SOURCES], cacheDir });
}

export interface Place {
  id: string;
  rootDir: string;
  agent: string;
  diskMb: number;
  /** Of the group that holds its limits. */
  entrances: readonly string[];
}

export function placeArguments({ id, rootDir, agent, diskMb, entrances }: Place): string[] {
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

/** What the launcher, the agent and pages that are counted in advance take. */
const SLACK_MB = 16;

/** Where no control group counts what a sandbox holds, its launcher does. */
export function watchArguments({ entrances }: LimitGroup, memoryMb: number): string[] {
  return entrances.length > 0 ? [] : ['--watch-mb', `${memoryMb + SLACK_MB}`];
}

export function hostnameOf(id: string): string {
  return `sandbox-${id.slice(0, 8)}`;
}

/** Root's sandboxes get ids of their own that belong to nobody here; a user's sandbox has one id, which is his. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
