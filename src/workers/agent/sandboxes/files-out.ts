/**
 * Brings files of a sandbox into the workspace, as one change.
 *
 * The file names come from the sandbox, which may be hostile: only requested names are accepted.
 */
import { posix } from 'node:path';

import { z } from 'zod';

import { takeContent, type CallScope } from '#contract';
import { compileGlobs, type SetEntry } from '#host';
import { errors } from '../errors.ts';
import { inWorkspace, isGlob } from '../paths.ts';
import type { AgentContext } from '../worker.ts';
import { WORK } from './files-in.ts';

const MAX_FILES = 500;
const MAX_BYTES = 64 * 2 ** 20;
const LIST_MS = 60_000;

/** Lists the files that its arguments match, and those below matching folders. A name may contain any byte but NUL. */
const LISTING = 'for f in "$@"; do for g in $f; do [ -e "$g" ] && find "./$g" -type f -print0; done; done';

const Listed = z.object({ stdout: z.string() });

export interface Brought {
  seq?: number | undefined;
  files: { path: string; bytes: number }[];
  /** Requested paths that do not exist. */
  missing: string[];
  versions: { path: string; version: string }[];
}

/**
 * The requested paths and globs, relative to the workspace. Refuses paths that could not be written there before
 * anything runs.
 */
export function pathsToBring(given: readonly string[], context: AgentContext): string[] {
  return given.map((one) => {
    const path = posix.normalize(inWorkspace(one.replace(/^\/work\//, ''), context));
    if (path.split('/').includes('..')) throw errors.fail('A215', { path: one, root: context.root });
    if (!isGlob(path)) context.jail.target(path)[Symbol.dispose]();
    return path;
  });
}

export async function bringOut(
  sandboxId: string,
  wanted: readonly string[],
  { context, scope }: { context: AgentContext; scope: CallScope },
): Promise<Brought> {
  const matchers = wanted.map((one) => ({ one, fits: matcherOf(one) }));
  const names = (await list(sandboxId, wanted, scope)).filter((name) => matchers.some(({ fits }) => fits(name)));
  if (names.length > MAX_FILES) {
    throw errors.fail('A210', {
      problem: `bring: ${names.length} files match; at most ${MAX_FILES} are brought; name fewer`,
    });
  }
  const missing = matchers.filter(({ fits }) => !names.some(fits)).map(({ one }) => one);
  if (names.length === 0) return { files: [], missing, versions: [] };

  const entries: SetEntry[] = [];
  let left = MAX_BYTES;
  for (const name of names) {
    const content = await readOut(sandboxId, name, left, scope);
    left -= content.length;
    entries.push({ kind: 'write', path: name, content });
  }
  const { signal, noteChange, call, functionId } = scope;
  const outcome = await context.changes.writeSet(entries, { signal, noteChange, call, functionId });
  return {
    seq: outcome.seq,
    files: entries.map((entry) => ({ path: entry.path, bytes: entry.kind === 'write' ? entry.content.length : 0 })),
    missing,
    versions: outcome.changes.flatMap(({ path, version }) => (version === undefined ? [] : [{ path, version }])),
  };
}

async function list(sandboxId: string, wanted: readonly string[], { bus, signal }: CallScope): Promise<string[]> {
  const argv = ['sh', '-c', LISTING, 'sh', ...wanted];
  const request = { sandbox_id: sandboxId, argv, workdir: WORK, timeout_ms: LIST_MS };
  const { stdout } = Listed.parse(await bus.call('sandbox::exec', request, { timeoutMs: LIST_MS + 5000, signal }));
  const names = stdout.split('\0').filter((name) => name !== '' && !name.split('/').includes('..'));
  return [...new Set(names.map((name) => name.replace(/^(?:\.\/)+/, '')))];
}

/** The file or folder itself, or the matches of a glob; `*` stays in a name as in a shell. */
function matcherOf(wanted: string): (name: string) => boolean {
  const depth = wanted.split('/').length;
  const isMatch = isGlob(wanted) ? compileGlobs([wanted]) : (name: string) => name === wanted;
  const isDeep = wanted.includes('**');
  return (name) => {
    const parts = name.split('/');
    return isDeep ? isMatch(name) : isMatch(parts.slice(0, depth).join('/'));
  };
}

async function readOut(sandboxId: string, name: string, maxBytes: number, { bus, signal }: CallScope): Promise<Buffer> {
  const functionId = 'sandbox::fs::read';
  const reply = await bus.call(functionId, { sandbox_id: sandboxId, path: `${WORK}/${name}` }, { signal });
  const taken = await takeContent(bus, reply, { functionId, maxBytes });
  if (!taken) throw errors.fail('A216', { problem: `${name}: the sandbox returned no content` });
  return taken.bytes;
}
