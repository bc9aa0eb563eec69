/**
 * grep: finds lines that match a regex, in a file or below a directory, in path order.
 *
 * The whole line is searched; only its returned text is clipped. Unreadable files are reported beside the matches.
 */
import { z } from 'zod';

import { CUT_NOTES, wire } from '#contract';
import { MAX_PATTERN_BYTES, RegexError } from '#host';
import { belowFields } from './glob-fields.ts';
import { defineOperation } from './file-operation.ts';

/** Stands for no limit: larger than any answer. */
const UNLIMITED = 2 ** 30;

const FsMatch = wire.named(
  'FsMatch',
  z.object({
    path: z.string().describe('The file, absolute.'),
    line: wire.uint64().describe('From 1.'),
    content: z.string().describe('The line without its ending; `…` at the end where it was cut to max_line_bytes.'),
  }),
);

const FsSkipped = wire.named(
  'FsSkipped',
  z.object({
    path: z.string().describe('Absolute.'),
    reason: z.string().describe('Why it could not be read, such as denied, io or too-deep.'),
  }),
);

export const grep = defineOperation({
  summary: 'Search a file or a directory tree for lines that match a regex.',
  details:
    'Regexes have the syntax of the Rust regex crate. Hidden files are searched, links below are not followed, and files ' +
    'with a NUL byte or over 256 MiB are passed over. One match for each line.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  request: z
    .object({
      path: z.string().describe('A file or a directory, absolute.'),
      pattern: z.string().describe('The regex, matched against one line at a time.'),
      ...belowFields,
      ignore_case: z.boolean().default(false).describe('Match upper and lower case alike.'),
      max_matches: wire.uint64().default(10_000).describe('Most matches; 0 for as many as a reply holds, 100000.'),
      max_line_bytes: wire.uint64().default(4096).describe('Bytes shown of a line; 0 for the whole line.'),
    })
    .meta({ title: 'GrepRequest' }),
  response: z
    .object({
      matches: z.array(FsMatch).describe('Sorted by path, then line.'),
      truncated: z.boolean().describe('True if there were more matches than returned.'),
      skipped: z
        .array(FsSkipped)
        .optional()
        .describe('Files that could not be read, the first 100; absent if there are none.'),
      files_too_large: wire.uint64().optional().describe('Files skipped for their size; absent if there are none.'),
    })
    .meta({ title: 'GrepResponse' }),
  reads: { line: ['pattern', 'path'], notes: CUT_NOTES },
  errors: ['S210', 'S211', 'S212', 'S215', 'S216', 'S217'],
  examples: [{ path: '/tmp', pattern: 'TODO|FIXME', include_glob: ['*.ts'], exclude_glob: ['**/node_modules/**'] }],

  async handle(request, { files }, scope) {
    const { path, pattern } = request;
    if (Buffer.byteLength(pattern) > MAX_PATTERN_BYTES) {
      throw new RegexError(`${pattern.slice(0, 40)}…`, `longer than ${MAX_PATTERN_BYTES} bytes`);
    }
    const answer = await files.grep(
      {
        path,
        pattern,
        recursive: request.recursive,
        includeGlobs: request.include_glob,
        excludeGlobs: request.exclude_glob,
        ignoreCase: request.ignore_case,
        maxMatches: request.max_matches || UNLIMITED,
        maxLineBytes: Math.min(request.max_line_bytes || UNLIMITED, UNLIMITED),
        respectGitignore: (request as { respect_gitignore?: boolean }).respect_gitignore,
      },
      scope,
    );
    return {
      matches: answer.matches.map(({ text, ...place }) => ({ ...place, content: text })),
      truncated: answer.isTruncated,
      ...(answer.skipped.length > 0 && { skipped: answer.skipped }),
      ...(answer.filesTooLarge > 0 && { files_too_large: answer.filesTooLarge }),
    };
  },
});
