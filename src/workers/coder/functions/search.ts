/**
 * coder::search: finds matching lines and paths, in path order.
 *
 * The query is matched against whole lines; only the returned text is clipped. Skipped files are counted, so that an
 * empty answer shows how much was searched.
 */
import { z } from 'zod';

import { CUT_NOTES, wire } from '#contract';
import { GlobError, MAX_PATTERN_BYTES, RegexError } from '#host';
import { EncodedObject } from '#protocol';
import { errors } from '../errors.ts';
import { coder } from '../worker.ts';

const MAX_CONTEXT_LINES = 10;

const ContentMatch = wire.named(
  'ContentMatch',
  z.object({
    path: z.string().describe('The file, relative to base_path.'),
    line: wire.uint32().describe('From 1.'),
    column: wire.uint32().describe('Column of the first match in the line, from 1, in bytes of UTF-8.'),
    text: z.string().describe('The line, cut to max_line_bytes; bytes that are not UTF-8 are replaced by U+FFFD.'),
    before: z.array(z.string()).optional().describe('Lines before it, when context_lines asks for them.'),
    after: z.array(z.string()).optional().describe('Lines after it, when context_lines asks for them.'),
  }),
);

const PathMatch = wire.named('PathMatch', z.object({ path: z.string().describe('The file, relative to base_path.') }));

const SkippedEntry = wire.named(
  'SkippedEntry',
  z.object({
    path: z.string().describe('Relative to base_path.'),
    reason: z.string().describe('Why it could not be read, such as denied, io or too-deep.'),
  }),
);

export const search = coder.defineFunction({
  id: 'coder::search',
  summary: 'Search the contents and the paths of files under base_path for a literal or a regex.',
  details:
    'Hidden files are searched, links are not followed, and protected files are in neither list. Files with a NUL ' +
    'byte or over max_read_bytes match by their path only. Regexes have the syntax of the Rust regex crate, globs ' +
    'that of globset: * also matches across /. Each line counts once, by its first match.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  request: z.object({
    query: z.string().describe('A literal, or a regex when regex is true.'),
    path: z
      .string()
      .default('.')
      .describe('The folder to search, relative to base_path. Globs and results stay relative to base_path.'),
    regex: z.boolean().default(false).describe('Whether query is a regex.'),
    ignore_case: z.boolean().default(false).describe('Match upper and lower case alike.'),
    include_globs: z
      .array(z.string())
      .default([])
      .describe('Only files whose path from base_path matches one of these; all when empty.'),
    exclude_globs: z
      .array(z.string())
      .default([])
      .describe('Skip files whose path from base_path matches one of these.'),
    max_matches: wire
      .uint32()
      .nullable()
      .default(null)
      .describe('Most entries of each list, at most 100000. Default search_default_max_matches.'),
    max_line_bytes: wire
      .uint32()
      .nullable()
      .default(null)
      .describe('Bytes shown of a matching line. Default search_default_max_line_bytes.'),
    search_content: z.boolean().default(true).describe('Search in file contents.'),
    search_paths: z.boolean().default(true).describe('Search in paths from base_path.'),
    context_lines: z
      .int()
      .min(0)
      .max(MAX_CONTEXT_LINES)
      .optional()
      .describe('Lines to show before and after each matching line.'),
    respect_gitignore: z
      .boolean()
      .optional()
      .describe('Skip .git and files that .gitignore files under base_path exclude; default false.'),
  }),
  response: z.object({
    content_matches: z.array(ContentMatch).describe('Sorted by path, then line.'),
    path_matches: z.array(PathMatch).describe('Sorted by path.'),
    truncated: z.boolean().describe('True if there were more matches than returned.'),
    files_searched: wire.uint64().optional().describe('Files whose content was searched.'),
    files_binary: wire.uint64().optional().describe('Files skipped because they contain a NUL byte.'),
    files_too_large: wire.uint64().optional().describe('Files skipped because they exceed max_read_bytes.'),
    skipped: z.array(SkippedEntry).optional().describe('Files and folders that could not be read; the first 100.'),
  }),
  modelDefaults: { respect_gitignore: true },
  reads: { line: ['query', 'path'], notes: CUT_NOTES },
  errors: ['C210', 'C211', 'C215', 'C216'],
  examples: [{ query: 'TODO' }, { query: 'fn \\w+', regex: true, include_globs: ['**/*.rs'], context_lines: 2 }],

  async handle(request, { workspace, defaultMaxMatches, defaultMaxLineBytes }, scope) {
    if (request.query === '') throw refused('query is empty; send the text or regex to search for');
    const queryBytes = Buffer.byteLength(request.query);
    if (queryBytes > MAX_PATTERN_BYTES) {
      throw refused(`query is ${queryBytes} bytes; the limit is ${MAX_PATTERN_BYTES}`);
    }
    if (!request.search_content && !request.search_paths) {
      throw refused('search_content and search_paths are both off; set one of them to true');
    }

    const query = {
      pattern: request.query,
      isRegex: request.regex,
      ignoreCase: request.ignore_case,
      wantsContent: request.search_content,
      wantsPaths: request.search_paths,
      maxMatches: request.max_matches ?? defaultMaxMatches,
      maxLineBytes: request.max_line_bytes ?? defaultMaxLineBytes,
      contextLines: request.context_lines ?? 0,
      mayBeJson: true,
    };
    const target = {
      path: request.path,
      includeGlobs: request.include_globs,
      excludeGlobs: request.exclude_globs,
      respectGitignore: request.respect_gitignore,
    };
    const answer = await workspace.search({ query, ...target }, scope).catch(refusePattern);
    const result = {
      content_matches: answer.contentMatches,
      path_matches: answer.pathMatches.map((matched) => ({ path: matched })),
      truncated: answer.isTruncated,
      files_searched: answer.filesSearched,
      files_binary: answer.filesBinary,
      files_too_large: answer.filesTooLarge,
      skipped: answer.skipped,
    };
    return answer.contentJson ? new EncodedObject(result, 'content_matches', answer.contentJson) : result;
  },
});

function refusePattern(error: unknown): never {
  if (error instanceof GlobError || error instanceof RegexError) throw refused(error.message, error);
  throw error;
}

function refused(problem: string, cause?: Error) {
  return errors.fail('C210', { problem }, cause);
}
