/**
 * filesystem::ls: lists a directory by name, optionally recursively.
 *
 * Only listed entries are statted, and the walk ends with the list, so a huge directory costs only the reading of its
 * names.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { firstNames, Turns, visitBelow, type JailDir } from '#host';
import { defineAction } from '../action.ts';
import {
  Entry,
  entryOf,
  gitignoreField,
  isHidden,
  leftOutBelow,
  matcherOf,
  maxResultsField,
  truncatedField,
} from '../listing.ts';

type Entries = z.input<typeof Entry>[];
type LeftOut = ReturnType<typeof leftOutBelow>;

const TURN_MS = 5;

const Request = z.object({
  path: z.string().default('.').describe('The directory: absolute, or from the first allowed path.'),
  recursive: z.boolean().default(false).describe('Also list everything below.'),
  pattern: z
    .string()
    .nullish()
    .describe('Glob that names have to match; with a / in it, that paths from the directory have to match.'),
  include_hidden: z
    .boolean()
    .default(false)
    .describe('Also list names that begin with a dot, and everything below them.'),
  max_results: maxResultsField(1000),
  respect_gitignore: gitignoreField.describe(
    'With recursive, skip .git and files that .gitignore files exclude; default false.',
  ),
});

export const ls = defineAction({
  id: 'filesystem::ls',
  summary: 'List a directory with type, size and time of each entry.',
  details:
    'Sorted by the bytes of the names; with recursive, the entries of a directory follow it. Symlinks are listed and not ' +
    'followed, and unreadable directories are listed without their contents.',
  effect: 'read',
  permissions: ['fs.list'],
  subject: { trees: ['path'] },
  policy: { risk: 'low', sideEffects: [], constraints: ['paths'] },
  request: Request,
  modelDefaults: { respect_gitignore: true },
  data: z.object({
    path: z.string().describe('Path of the directory, symlinks resolved.'),
    entries: z.array(Entry),
    count: wire.uint64().describe('Entries in the list.'),
    truncated: truncatedField,
  }),
  reads: { line: ['path', 'pattern'], notes: [{ field: 'data.truncated', says: 'cut' }] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216'],
  examples: [{}, { path: '.', recursive: true, pattern: '*.ts' }],

  async handle(request, { jail }, scope) {
    using dir = jail.openDir(request.path);
    const isLeftOut = request.respect_gitignore ? leftOutBelow(dir, jail) : () => false;
    const { entries, truncated } = request.recursive
      ? await listBelow(dir, { ...request, isLeftOut }, scope)
      : await listDirectory(dir, request, scope);
    return { path: `/${dir.relativePath}`, entries, count: entries.length, truncated };
  },
});

async function listDirectory(
  dir: JailDir,
  { pattern, include_hidden, max_results }: z.output<typeof Request>,
  { signal }: CallScope,
): Promise<{ entries: Entries; truncated: boolean }> {
  const matches = pattern == null ? () => true : matcherOf(pattern, dir);
  const { names, total } = await firstNames(dir, max_results, {
    signal,
    accepts: (name) => (include_hidden || !isHidden(name)) && matches(dir, name),
  });
  const turns = new Turns(signal, TURN_MS);
  const entries: Entries = [];
  for (const name of names) {
    const entry = entryOf(dir, name);
    if (entry) entries.push(entry);
    if (turns.isOver) await turns.next();
  }
  return { entries, truncated: total > names.length };
}

async function listBelow(
  top: JailDir,
  { pattern, include_hidden, max_results, isLeftOut }: z.output<typeof Request> & { isLeftOut: LeftOut },
  scope: CallScope,
): Promise<{ entries: Entries; truncated: boolean }> {
  const matches = pattern == null ? () => true : matcherOf(pattern, top);
  const entries: Entries = [];
  let truncated = false;
  await visitBelow(top, scope, (dir, entry) => {
    const { name } = entry;
    if ((!include_hidden && isHidden(name)) || isLeftOut(dir, entry)) return 'pass';
    if (!matches(dir, name)) return 'go-on';
    if (entries.length === max_results) {
      truncated = true;
      return 'stop';
    }
    const shown = entryOf(dir, name);
    if (shown) entries.push(shown);
    return 'go-on';
  });
  return { entries, truncated };
}
