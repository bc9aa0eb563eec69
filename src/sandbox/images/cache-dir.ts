/** Where images are kept when the configuration does not say: the cache directory of the user, as XDG has it. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env;
  // The standard says that a relative path there is to be ignored.
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'workcell', 'sandbox');
}
