/** The references of the repository at the root of a workspace, as they are when a change begins. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface References {
  readonly repositories: readonly {
    /** Path of the working tree from the workspace; empty for its root. */
    readonly path: string;
    /** Value by name, such as refs/heads/main, and HEAD as it is written. */
    readonly refs: Readonly<Record<string, string>>;
    readonly index: { readonly ino: number; readonly size: number; readonly mtimeMs: number } | null;
  }[];
}

const MOST_REFERENCES = 20_000;

/** Undefined without a repository at the root. */
export function readReferences(workspace: string): References | undefined {
  const git = join(workspace, '.git');
  if (!lstatSync(git, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  try {
    const refs: Record<string, string> = { ...packed(git), ...loose(git, 'refs') };
    refs.HEAD = readFileSync(join(git, 'HEAD'), 'utf8').trim();
    const index = statSync(join(git, 'index'), { throwIfNoEntry: false });
    const seen = index ? { ino: index.ino, size: index.size, mtimeMs: index.mtimeMs } : null;
    return { repositories: [{ path: '', refs, index: seen }] };
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
    return undefined;
  }
}

function packed(git: string): Record<string, string> {
  const path = join(git, 'packed-refs');
  if (!statSync(path, { throwIfNoEntry: false })) return {};
  const lines = readFileSync(path, 'utf8').split('\n');
  const found = lines.map((line) => /^([\da-f]{40,64}) (\S+)$/.exec(line)).filter((match) => match !== null);
  return Object.fromEntries(found.slice(0, MOST_REFERENCES).map(([, value, name]) => [name!, value!]));
}

function loose(git: string, below: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(git, below), { withFileTypes: true })) {
    const name = `${below}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(found, loose(git, name));
    else if (entry.isFile()) found[name] = readFileSync(join(git, name), 'utf8').trim();
  }
  return found;
}
