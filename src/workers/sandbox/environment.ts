/** Environment variables in both request forms, as pairs in the order they take effect. */
import { z } from 'zod';

import { wire } from '#contract';
import { errors } from './errors.ts';

export const EnvShape = wire.named('EnvShape', z.union([z.array(z.string()), z.record(z.string(), z.string())]));

export type Env = [name: string, value: string][];

/** Most names in a message, because people read it. */
const MOST_QUOTED = 10;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Defaults, if neither the image nor the caller sets them. */
const BASE: Env = [
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ['HOME', '/root'],
  ['TERM', 'linux'],
];

/** The caller's variables in either form; refuses those that no program can receive. */
export function readEnv(env: z.output<typeof EnvShape> | undefined): Env {
  if (env === undefined) return [];
  const isList = Array.isArray(env);
  const unsplit = isList ? env.filter((entry) => !entry.includes('=')) : [];
  if (unsplit.length > 0) {
    throw errors.fail('S001', { problem: `env has entries that are not NAME=value: ${quoted(unsplit)}` });
  }
  const pairs = isList ? env.flatMap(splitEntry) : Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const bad = pairs.map(([name]) => name).filter((name) => !NAME.test(name));
  if (bad.length > 0) {
    throw errors.fail('S001', {
      problem: `env has names that no shell takes: ${quoted(bad)}; use letters, digits and _`,
    });
  }
  requireNoNul(pairs);
  return pairs;
}

/** The image's variables; ignores entries without `=` and does not check names. */
export function readImageEnv(env: readonly string[]): Env {
  return env.flatMap(splitEntry);
}

/** Later layers override earlier ones. */
export function mergeEnv(...layers: Env[]): Env {
  const merged = [...new Map([BASE, ...layers].flat())];
  requireNoNul(merged);
  return merged;
}

function requireNoNul(env: Env): void {
  const bad = env.find(([name, value]) => name === '' || name.includes('\0') || value.includes('\0'));
  if (bad)
    throw errors.fail('S001', { problem: `env has an entry that no program can be given: ${JSON.stringify(bad[0])}` });
}

function quoted(names: readonly string[]): string {
  return names
    .slice(0, MOST_QUOTED)
    .map((name) => JSON.stringify(name.slice(0, 80)))
    .join(', ');
}

function splitEntry(entry: string): Env {
  const at = entry.indexOf('=');
  return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
}
