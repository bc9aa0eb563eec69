/** Environment variables in both shapes that callers send, as pairs in the order they take effect. */
import { z } from 'zod';

import { wire } from '#contract';
import { errors } from './errors.ts';

export const EnvShape = wire.named('EnvShape', z.union([z.array(z.string()), z.record(z.string(), z.string())]));

export type Env = [name: string, value: string][];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a program finds when neither the image nor the caller says otherwise. */
const BASE: Env = [
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ['HOME', '/root'],
  ['TERM', 'linux'],
];

/** Entries of a list without `=` say nothing and are left out; the names of a map are checked. */
export function readEnv(env: z.output<typeof EnvShape> | undefined): Env {
  if (env === undefined) return [];
  if (Array.isArray(env)) return env.flatMap(splitEntry);

  const bad = Object.keys(env).filter((name) => !NAME.test(name));
  if (bad.length > 0) {
    throw errors.fail('S001', {
      problem: `env has names that no shell takes: ${bad.join(', ')}; use letters, digits and _`,
    });
  }
  return Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Later layers win over earlier ones. */
export function mergeEnv(...layers: Env[]): Env {
  const merged = [...new Map([BASE, ...layers].flat())];
  const bad = merged.find(([name, value]) => name === '' || name.includes('\0') || value.includes('\0'));
  if (bad)
    throw errors.fail('S001', { problem: `env has an entry that no program can be given: ${JSON.stringify(bad[0])}` });
  return merged;
}

function splitEntry(entry: string): Env {
  const at = entry.indexOf('=');
  return at < 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
}
