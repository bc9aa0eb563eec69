/** The directory that agents work in: it has to exist, and is canonical from then on. */
import { realpathSync, statSync } from 'node:fs';

import { ConfigError } from '#contract';

/** `label` names the option or key in the error message. */
export function canonicalWorkspace(path: string, label: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigError(`${label} ${path} is not a directory`);
  }
  return realpathSync(path);
}
