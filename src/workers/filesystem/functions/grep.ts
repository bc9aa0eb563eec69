/**
 * filesystem::grep: finds lines that match a regex, in a file or below a directory.
 *
 * Uses our own engine, not a program of the host, so that the answer is the same everywhere: hidden files are searched,
 * no ignore file is read, and the time does not depend on how the regex is written.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { HostError, MAX_PATTERN_BYTES, targetOfFile, type Jail, type SearchTarget } from '#host';
import { defineAction } from '../action.ts';
import { errors } from '../errors.ts';
import { gitignoreField, maxResultsField, truncatedField } from '../listing.ts';

const MAX_LINE_BYTES = 4096;

/** A regex without special characters, searched as a literal, which is faster. */
const LITERAL = /^[\w\s"'%,/:;<=>@`!-]+$/;

const Match = z.object({
  file: z.string().describe('Absolute.'),
  line: wire.uint64().describe('From 1.'),
  text: z.string().describe(`The line, cut to ${MAX_LINE_BYTES} bytes.`),
});

export const grep = defineAction({
  id: 'filesystem::grep',
  summary: 'Search files for lines that match a regex.',
  details:
    'Regexes have the syntax of the Rust regex crate. Files with a NUL byte and files over max_file_size are skipped, ' +
    'symlinks are not followed. Sorted by path, then line; each line counts once.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  policy: { risk: 'low', sideEffects: [], constraints: ['paths', 'max_file_size'] },
  request: z.object({
    pattern: z.string().min(1).describe('The regex.'),
    path: z.string().default('.').describe('File or directory to search: absolute, or from the first allowed path.'),
    include: z
      .string()
      .nullish()
      .describe('Glob that file names have to match; with a / in it, that paths from the directory have to match.'),
    recursive: z.boolean().default(true).describe('Also search subdirectories.'),
    max_results: maxResultsField(100),
    case_sensitive: z.boolean().default(true).describe('With false, match upper and lower case alike.'),
    respect_gitignore: gitignoreField,
  }),
  modelDefaults: { respect_gitignore: true },
  data: z.object({
    matches: z.array(Match),
    count: wire.uint64().describe('Lines in the list.'),
    truncated: truncatedField,
  }),
  reads: { line: ['pattern', 'path'], notes: [{ field: 'data.truncated', says: 'cut' }] },
  errors: ['F210', 'F211', 'F212', 'F215', 'F216'],
  examples: [{ pattern: 'TODO' }, { pattern: 'def \\w+', include: '*.py' }],

  async handle(request, { jail, roots }, scope) {
    const { pattern, path, include, recursive, max_results, case_sensitive } = request;
    const bytes = Buffer.byteLength(pattern);
    if (bytes > MAX_PATTERN_BYTES) {
      throw errors.fail('F210', { problem: `\`pattern\` is ${bytes} bytes; the limit is ${MAX_PATTERN_BYTES}` });
    }
    const target = targetIn(jail, path, { include: include ?? undefined, recursive });
    const query = {
      pattern,
      isRegex: !case_sensitive || !LITERAL.test(pattern),
      ignoreCase: !case_sensitive,
      wantsContent: true,
      wantsPaths: false,
      maxMatches: max_results,
      maxLineBytes: MAX_LINE_BYTES,
      contextLines: 0,
    };
    const respectGitignore = request.respect_gitignore === true && target.isRecursive;
    const { contentMatches, isTruncated } = await roots.search({ ...target, respectGitignore }, query, scope);
    const matches = contentMatches.map(({ path: file, line, text }) => ({ file, line, text }));
    return { matches, count: matches.length, truncated: isTruncated };
  },
});

function targetIn(
  jail: Jail,
  path: string,
  { include, recursive }: { include: string | undefined; recursive: boolean },
): SearchTarget {
  using target = jail.target(path);
  if (!target.stat) throw new HostError('missing', path);

  const absolute = `/${target.relativePath}`;
  if (target.stat.isFile()) return targetOfFile(absolute);
  if (!target.stat.isDirectory()) throw new HostError('not-a-file', path);
  const includeGlobs = include === undefined ? [] : [recursive ? include : `/${include.replace(/^\//, '')}`];
  return { directory: absolute, includeGlobs, excludeGlobs: [], dialect: 'segments', isRecursive: recursive };
}
