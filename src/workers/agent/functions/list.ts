/** agent::list: the files of a folder as a tree that is folded until it fits, or the paths that match a glob. */
import { z } from 'zod';

import { CUT_NOTES, wire } from '#contract';
import { findFiles } from '../find-files.ts';
import { globList, inWorkspace } from '../paths.ts';
import { fitting } from '../text-lines.ts';
import { treeText } from '../tree-text.ts';
import { agent } from '../worker.ts';

const MOST_PATHS = 300;

export const list = agent.defineFunction({
  id: 'agent::list',
  summary: 'List files as a tree without ignored ones; large folders are folded to their counts.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  request: z.object({
    path: z.string().optional(),
    depth: wire.uint32().min(1).max(20).default(2),
    glob: z.string().optional().describe('List matching paths instead.'),
  }),
  response: z.object({
    files: wire.uint64().describe('Files that were found.'),
    paths: z.array(z.string()).optional().describe('With glob: the first of them.'),
    tree: z.string().optional().describe('Without glob: a folder a line, its files on the line below.'),
    truncated: z.boolean(),
  }),
  reads: { line: ['path', 'glob'], notes: CUT_NOTES },
  errors: ['A210', 'A211', 'A215', 'A216'],
  examples: [{}, { path: '.', depth: 1 }, { glob: '*.md' }],

  async handle({ path = '.', depth, glob }, context, scope) {
    const target = inWorkspace(path, context);
    const globs = globList(glob, context);
    const below = target === '.' ? [] : globs.map((one) => `${target.replace(/\/$/, '')}/${one}`);
    const { paths, isTruncated } = await findFiles({ path: target, include: [...globs, ...below] }, context, scope);
    if (glob === undefined) {
      const start = target === '.' ? '' : `${target.replace(/\/+$/, '')}/`;
      const names = paths.map((one) => (one.startsWith(start) ? one.slice(start.length) : one));
      const tree = treeText(names, { depth, maxChars: context.replyChars });
      return { files: paths.length, tree, truncated: isTruncated };
    }
    const most = Math.min(MOST_PATHS, fitting(paths, context.replyChars));
    return { files: paths.length, paths: paths.slice(0, most), truncated: isTruncated || paths.length > most };
  },

  text({ files, paths, tree = '', truncated }) {
    if (files === 0) return 'no files';
    if (!paths) return truncated ? `${tree}\n… more than ${files} files: name a folder` : tree;
    return [...paths, ...(truncated ? [`… ${files} in all; narrow the glob`] : [])].join('\n');
  },
});
