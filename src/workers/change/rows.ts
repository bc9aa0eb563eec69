/** Rows that diff and commit both reply with. */
import { z } from 'zod';

import { wire } from '#contract';
import type { GitRepository } from '#host';

/** Paths of a request, from the workspace. */
export const Names = z
  .array(
    z
      .string()
      .min(1)
      .transform((path) => path.replace(/^\.\//, '').replace(/\/+$/, '')),
  )
  .min(1);

export const Mode = z.string().describe('Permission bits in octal, such as 0644.');
export const Version = z.string().describe('Version of the content, as reads return it.');

export const LeftOutRow = wire.named(
  'LeftOut',
  z.object({
    path: z.string(),
    why: z
      .enum(['protected', 'special', 'git', 'name'])
      .describe(
        'protected by `protect`; a device, socket or FIFO; a repository, which needs `git: true`, or a part of it that is never taken; a name that is not UTF-8.',
      ),
  }),
);

const reference = z.string().nullable().describe('Hash, or `ref: …`; null if it is not there.');

export const GitRow = wire.named(
  'GitChanges',
  z.object({
    repo: z.string().describe('Path of the repository; empty for the workspace itself.'),
    objects: wire.uint64().describe('New object files.'),
    refs: z.array(z.object({ name: z.string(), from: reference, to: reference })),
    index: z.boolean().describe('True if the index differs.'),
    config_changed: z.boolean().describe('Never committed: configuration may run programs.'),
    hooks_changed: z.boolean().describe('Never committed.'),
  }),
);

export function gitRows(repositories: readonly GitRepository[]): z.input<typeof GitRow>[] {
  return repositories.map(({ path, objects, refs, index, isConfigChanged, areHooksChanged }) => ({
    repo: path.replace(/\/?\.git$/, ''),
    objects: objects.length,
    refs: refs.map(({ name, from, to }) => ({ name, from, to })),
    index: index !== 'unchanged',
    config_changed: isConfigChanged,
    hooks_changed: areHooksChanged,
  }));
}
