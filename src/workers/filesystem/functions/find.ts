/** filesystem::find: finds paths below a directory by name, or by relative path if the glob has a `/`. */
import { z } from 'zod';

import { wire } from '#contract';
import { visitBelow } from '#host';
import { defineAction } from '../action.ts';
import { gitignoreField, leftOutBelow, matcherOf, maxResultsField, truncatedField } from '../listing.ts';

const KIND_OF_TYPE = { file: 'file', dir: 'directory' } as const;

export const find = defineAction({
  id: 'filesystem::find',
  summary: 'Find files and directories by a glob.',
  details:
    'A glob without / matches names at any depth; one with / matches paths from the directory. * and ? stay inside a ' +
    'name, ** crosses. Hidden names are found too, symlinks are not followed, and unreadable directories are skipped.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  policy: { risk: 'low', sideEffects: [], constraints: ['paths'] },
  request: z.object({
    pattern: z.string().min(1).describe('The glob, such as *.py or src/**/test_*.py.'),
    path: z.string().default('.').describe('The directory to search: absolute, or from the first allowed path.'),
    type: z.enum(['file', 'dir']).nullish().describe('Only files, or only directories.'),
    max_results: maxResultsField(100),
    respect_gitignore: gitignoreField,
  }),
  modelDefaults: { respect_gitignore: true },
  data: z.object({
    matches: z.array(z.string()).describe('Absolute paths; the contents of a directory follow it.'),
    count: wire.uint64().describe('Paths in the list.'),
    truncated: truncatedField,
  }),
  reads: { line: ['pattern', 'path'], notes: [{ field: 'data.truncated', says: 'cut' }] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216'],
  examples: [{ pattern: '*.md' }, { pattern: 'src/**/*.ts', type: 'file', max_results: 20 }],

  async handle({ pattern, path, type, max_results, respect_gitignore }, { jail }, scope) {
    using top = jail.openDir(path);
    const isMatch = matcherOf(pattern, top);
    const isLeftOut = respect_gitignore ? leftOutBelow(top, jail) : () => false;
    const wanted = type == null ? undefined : KIND_OF_TYPE[type];
    const matches: string[] = [];
    let truncated = false;
    await visitBelow(top, scope, (dir, entry) => {
      if (isLeftOut(dir, entry)) return 'pass';
      const { name, kind } = entry;
      if ((wanted && kind !== wanted) || !isMatch(dir, name)) return 'go-on';
      truncated = matches.length === max_results;
      if (!truncated) matches.push(`/${dir.pathOf(name)}`);
      return truncated ? 'stop' : 'go-on';
    });
    return { matches, count: matches.length, truncated };
  },
});
