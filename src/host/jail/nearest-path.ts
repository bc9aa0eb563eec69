/**
 * Suggests an existing path for a missing one, at the end of an error message.
 *
 * Never suggests a protected or hidden path. The number of names compared is bounded.
 */
import { basename, relative } from 'node:path';

import { nearestName } from '#contract';
import { toBytes, toText } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import type { Jail } from './jail.ts';

const MOST_NAMES = 2000;
const MOST_FOLDERS = 100;
/** Large folders that the search skips. */
const PASSED_OVER = new Set(['.git', 'node_modules']);

/** `; did you mean …?`, or nothing. */
export function pathHint(error: unknown, jail: Jail): string {
  if (!(error instanceof HostError)) return '';
  const meant = error.reason === 'absolute' ? fromRoot(error.path, jail) : undefined;
  const path = meant ?? (error.reason === 'missing' ? nearestPath(error.path, jail) : undefined);
  return path === undefined ? '' : `; did you mean ${path}?`;
}

function fromRoot(path: string, { roots: [root = ''] }: Jail): string | undefined {
  const below = relative(root, path);
  return below === '' || below.startsWith('..') ? undefined : below;
}

/** The nearest name in the deepest existing folder of the path, or the same name elsewhere. */
function nearestPath(path: string, jail: Jail): string | undefined {
  const parts = path.split('/');
  for (let at = parts.length - 1; at >= 0; at--) {
    const folder = parts.slice(0, at).join('/');
    const names = namesIn(folder || (path.startsWith('/') ? '/' : '.'), jail, parts[at]);
    if (!names) continue;
    if (names === 'protected') return undefined;

    const name = nearestName(parts[at]!, names);
    if (name === undefined || name === parts[at]) break;
    const fixed = [...parts.slice(0, at), name];
    const whole = [...fixed, ...parts.slice(at + 1)].join('/');
    return at === parts.length - 1 || exists(whole, jail) ? whole : fixed.join('/');
  }
  return path.startsWith('/') ? undefined : sameNameBelow(basename(path), jail);
}

/** Breadth first, so that the shortest path is found. */
function sameNameBelow(wanted: string, jail: Jail): string | undefined {
  const folders = ['.'];
  for (let at = 0; at < folders.length && at < MOST_FOLDERS; at++) {
    const names = namesIn(folders[at]!, jail);
    if (!names || names === 'protected') continue;
    const prefix = folders[at] === '.' ? '' : `${folders[at]}/`;
    if (names.includes(wanted)) return prefix + wanted;
    const below = names.filter((name) => !name.includes('.') && !PASSED_OVER.has(name));
    folders.push(...below.slice(0, MOST_FOLDERS).map((name) => prefix + name));
  }
  return undefined;
}

/**
 * Undefined if the folder does not exist. A protected name gets no suggestion, since that would reveal whether the file
 * exists.
 */
function namesIn(folder: string, jail: Jail, wanted?: string): string[] | 'protected' | undefined {
  try {
    using dir = jail.openDir(folder);
    if (wanted !== undefined && jail.isClosed(dir.pathOf(toBytes(wanted)))) return 'protected';
    const [first = []] = dir.names();
    const shown = first.slice(0, MOST_NAMES).filter((name) => !jail.isClosed(dir.pathOf(name)));
    return shown.map(toText);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

function exists(path: string, jail: Jail): boolean {
  try {
    using entry = jail.entry(path);
    return entry.stat !== undefined && !jail.isClosed(entry.relativePath);
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}
