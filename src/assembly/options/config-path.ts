/** The path of the configuration file. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where `worker add` writes and `start` reads when no file is named. Never in the workspace: agents write there. */
export function defaultConfigPath(env: NodeJS.ProcessEnv = process.env): string {
  // An empty variable counts as unset: taken literally it would mean the current directory.
  return env.WORKCELL_CONFIG || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'workcell', 'config.yaml');
}

/** The file to read, if any: a named file has to exist, the default one may. */
export function findConfigFile(named: string | undefined, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const path = defaultConfigPath(env);
  return named ?? (env.WORKCELL_CONFIG || existsSync(path) ? path : undefined);
}
