/** The directory that agents work in, whoever names it: it has to be there, and has one spelling from then on. */
import { realpathSync, statSync } from 'node:fs';

import { ConfigError } from '#contract';

/** `label` is how the one who named it did so. */
export function canonicalWorkspace(path: string, label: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigError(`${label} ${path} is not a directory`);
  }
  return realpathSync(path);
}
