/** Paths of a request: relative to the workspace, or absolute inside it. */
import { isAbsolute, relative } from 'node:path';

import { errors } from './errors.ts';
import type { AgentContext } from './worker.ts';

/** The path relative to the workspace. Refuses only an absolute path outside; the jail refuses the others. */
export function inWorkspace(path: string, { root, givenRoot }: Pick<AgentContext, 'root' | 'givenRoot'>): string {
  if (!isAbsolute(path)) return path.replace(/^(?:\.\/+)+(?=.)/, '');
  for (const start of [root, givenRoot]) {
    const below = relative(start, path);
    if (below === '') return '.';
    if (below !== '..' && !below.startsWith('../')) return below;
  }
  throw errors.fail('A215', { path, root });
}

/** Whether a path of a request is a glob. */
export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** A glob without a folder matches in every folder, as in a .gitignore file. */
export function wholeGlob(glob: string, context: Pick<AgentContext, 'root' | 'givenRoot'>): string {
  const path = inWorkspace(glob, context);
  return path.includes('/') ? path : `**/${path}`;
}

/** Several globs in one text; a comma in braces belongs to its glob. */
export function globList(text: string | undefined, context: Pick<AgentContext, 'root' | 'givenRoot'>): string[] {
  const parts = text?.split(/,(?![^{]*\})/).map((part) => part.trim()) ?? [];
  return parts.filter((part) => part !== '').map((part) => wholeGlob(part, context));
}
