/** The directory that agents work in: it has to exist and to be usable, and is canonical from then on. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';

import { ConfigError } from '#contract';

/** Entering a directory needs execute permission. */
const USES = {
  read: { mode: constants.R_OK | constants.X_OK, code: 'workspace_not_readable', permission: 'rx' },
  written: { mode: constants.W_OK, code: 'workspace_not_writable', permission: 'w' },
} as const;

/** `label` names the option or key in the error message. */
export function canonicalWorkspace(path: string, label: string, { isReadOnly = false } = {}): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigError(`${label} ${path} is not a directory`, { code: 'workspace_not_a_directory' });
  }
  const canonical = realpathSync(path);
  requireUse(canonical, label, 'read');
  if (!isReadOnly) requireUse(canonical, label, 'written');
  return canonical;
}

function requireUse(path: string, label: string, use: keyof typeof USES): void {
  const { mode, code, permission } = USES[use];
  try {
    accessSync(path, mode);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code;
    const help = errno === 'EROFS' ? 'its file system is read-only' : `allow it with: chmod u+${permission} ${path}`;
    throw new ConfigError(
      `${label} ${path} cannot be ${use} by ${userName()} (${errno}): ${help}, or name another directory`,
      { code, cause },
    );
  }
}

/** Like `ownAccount` of #host, which would load all of that before `workcell mcp` answers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
