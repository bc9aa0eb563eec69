/** Directory entries a search skips. */
import type { OpenWalkDir } from '../../walk/walk-dir.ts';
import type { WalkFilter } from '../../walk/walk.ts';
import { gitignoreFilter } from './gitignore.ts';
import type { SearchOrder } from './scan-messages.ts';

const FILES_ONLY: WalkFilter = (_, entries) => entries.filter(({ isDir }) => !isDir);

/** Undefined when it skips nothing. */
export function walkFilterOf(
  { isRecursive, respectsGitignore }: Pick<SearchOrder, 'isRecursive' | 'respectsGitignore'>,
  openDir: OpenWalkDir,
): WalkFilter | undefined {
  const gitignore = respectsGitignore ? gitignoreFilter(openDir) : undefined;
  if (isRecursive) return gitignore;
  return gitignore ? (dir, entries) => FILES_ONLY(dir, gitignore(dir, entries)) : FILES_ONLY;
}
