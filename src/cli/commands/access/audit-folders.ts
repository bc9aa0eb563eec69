/** The chains of audit records in the state directory, one for each server that ran at the same time. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export function auditFolders(stateDir: string): string[] {
  const audit = join(stateDir, 'audit');
  if (!existsSync(audit)) return [];
  return readdirSync(audit)
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(a) - Number(b))
    .map((name) => join(audit, name));
}
