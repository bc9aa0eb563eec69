/** agent::search: lines that match a regex, below the path of their file. */
import { basename, dirname } from 'node:path';

import { z } from 'zod';

import { CUT_NOTES, wire } from '#contract';
import { HostError, openDirectory } from '#host';
import { errors } from '../errors.ts';
import { globList, inWorkspace } from '../paths.ts';
import { fitting } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

const MAX_LINE_BYTES = 240;
/** Limit for counts of each file. */
const MAX_COUNTED = 20_000;
const MAX_CONTEXT = 10;

const Match = wire.named(
  'AgentMatch',
  z.object({
    path: z.string(),
    line: wire.uint32(),
    text: z.string(),
    before: z.array(z.string()).optional(),
    after: z.array(z.string()).optional(),
  }),
);

export const search = agent.defineFunction({
  id: 'agent::search',
  summary: 'Search file contents by regex (Rust syntax). Skips .git and what .gitignore excludes.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['path'] },
  request: z.object({
    pattern: z.string().min(1).describe('Rust regex.'),
    path: z.string().optional().describe('Folder or file.'),
    glob: z.string().optional().describe('Like *.ts or src/**/*.ts, several with commas.'),
    literal: z.boolean().optional().describe('Pattern is plain text.'),
    ignore_case: z.boolean().optional(),
    context: wire.uint32().max(MAX_CONTEXT).optional().describe('Lines around each match.'),
    files_only: z.boolean().optional().describe('Only paths with counts.'),
    limit: wire.uint32().min(1).max(MAX_COUNTED).default(100).describe('Most matches.'),
  }),
  response: z.object({
    matches: z.array(Match),
    files: z
      .array(z.object({ path: z.string(), count: wire.uint32() }))
      .optional()
      .describe('With files_only.'),
    files_searched: wire.uint64(),
    truncated: z.boolean().describe('Whether there are more than `limit`.'),
  }),
  reads: { line: ['pattern', 'path', 'glob'], notes: CUT_NOTES },
  errors: ['A210', 'A211', 'A215', 'A216'],
  examples: [{ pattern: 'TODO' }, { pattern: 'export default', literal: true, glob: '*.ts', files_only: true }],

  async handle(request, context, scope) {
    const { pattern, literal = false, ignore_case = false, files_only = false, limit } = request;
    const query = {
      pattern,
      isRegex: !literal,
      ignoreCase: ignore_case,
      wantsContent: true,
      wantsPaths: false,
      maxMatches: files_only ? MAX_COUNTED : limit,
      maxLineBytes: files_only ? 1 : MAX_LINE_BYTES,
      contextLines: files_only ? 0 : (request.context ?? 0),
    };
    const answer = await context.workspace.search({ query, ...searchTargetOf(request, context) }, scope);
    const { contentMatches, filesSearched, isTruncated } = answer;
    const matches = contentMatches.map(({ column: _, ...match }) => match);
    const found = { files_searched: filesSearched, truncated: isTruncated };
    return files_only ? { matches: [], files: countsOf(matches).slice(0, limit), ...found } : { matches, ...found };
  },

  text({ matches, files, files_searched, truncated }, { replyChars }) {
    const lines = files ? files.map(({ path, count }) => `${path} ${count}`) : matchLines(matches);
    if (lines.length === 0) return `nothing in ${files_searched} files`;
    const fit = fitting(lines, replyChars);
    const isCut = truncated || fit < lines.length;
    return [
      ...lines.slice(0, fit),
      ...(isCut ? ['… there are more: narrow by path or glob, or use files_only'] : []),
    ].join('\n');
  },
});

type Matches = z.input<typeof Match>[];

function countsOf(matches: Matches): { path: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts].map(([path, count]) => ({ path, count }));
}

/** Searches a file that the caller names even if .gitignore excludes it. */
function searchTargetOf({ path = '.', glob }: { path?: string; glob?: string }, context: AgentContext) {
  const target = inWorkspace(path, context);
  const globs = globList(glob, context);
  if (!isFile(target, context)) {
    // The search starts in any directory; a protected one looks missing.
    openDirectory(context.jail, target).close();
    const below = target === '.' ? [] : globs.map((one) => `${target.replace(/\/$/, '')}/${one}`);
    return { path: target, includeGlobs: [...globs, ...below], excludeGlobs: [], respectGitignore: true };
  }
  if (globs.length > 0) {
    throw errors.fail('A210', { problem: `path ${path} is a file; leave glob out, or name a folder` });
  }
  const escaped = basename(target).replace(/[*?[\]{}\\]/g, '\\$&');
  const folder = dirname(target);
  const includeGlobs = [folder === '.' ? escaped : `${folder.replace(/[*?[\]{}\\]/g, '\\$&')}/${escaped}`];
  return { path: folder, includeGlobs, excludeGlobs: [], isRecursive: false };
}

function isFile(path: string, { jail }: AgentContext): boolean {
  try {
    using file = jail.open(path);
    return file.stat.isFile();
  } catch (error) {
    if (error instanceof HostError && error.reason !== 'escape') return false;
    throw error;
  }
}

function matchLines(matches: Matches): string[] {
  const lines: string[] = [];
  let last: { path: string; line: number } | undefined;
  for (const { path, line, text, before = [], after = [] } of matches) {
    if (path !== last?.path) lines.push(path);
    const shown = path === last?.path ? last.line : 0;
    const above = before.map((one, i) => ({ at: line - before.length + i, one })).filter(({ at }) => at > shown);
    lines.push(...above.map(({ at, one }) => `${at}- ${one}`));
    // A line that was shown as context of the previous match is shown again as a match.
    lines.push(`${line}: ${text}`);
    lines.push(...after.map((one, i) => `${line + 1 + i}- ${one}`));
    last = { path, line: line + after.length };
  }
  return lines;
}
