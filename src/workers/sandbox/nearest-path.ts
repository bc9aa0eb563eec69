/** Adds the nearest existing path to a "not found" error in a sandbox; for callers through MCP, HTTP or the CLI. */
import { nearestName, type CallScope } from '#contract';
import { HostError, type FileSystem } from '#host';
import { errors } from './errors.ts';

type Names = Pick<FileSystem, 'ls'>;

export async function withNearestPath<T>(work: Promise<T>, files: Names, scope: CallScope): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!scope.door || !(error instanceof HostError) || error.reason !== 'missing') throw error;
    throw errors.fail('S211', { path: error.path, meant: await nearestPath(error.path, files, scope) }, error);
  }
}

/** The nearest name in the last existing directory of the path, with the rest of the path. */
async function nearestPath(path: string, files: Names, scope: CallScope): Promise<string | undefined> {
  const parts = path.split('/');
  for (let at = parts.length - 1; at > 0; at--) {
    const names = await namesIn(parts.slice(0, at).join('/') || '/', files, scope);
    if (!names) continue;
    const name = nearestName(parts[at]!, names);
    return name === undefined || name === parts[at] ? undefined : parts.with(at, name).join('/');
  }
  return undefined;
}

async function namesIn(directory: string, files: Names, scope: CallScope): Promise<string[] | undefined> {
  try {
    const { entries } = await files.ls(directory, scope);
    return entries.map(({ name }) => name);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
