/** The default image cache: the user's cache directory, following XDG. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env;
  // The XDG standard requires that a relative path is ignored.
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'workcell', 'sandbox');
}
