/** agent::outline: the definitions and headings of files with their line numbers, to read the right part next. */
import { z } from 'zod';

import { Failure, wire, type CallScope } from '#contract';
import { errors, translate } from '../errors.ts';
import { grammarOf } from '../outline/grammars.ts';
import { headingLines, indentedLines } from '../outline/indented-outline.ts';
import { parseOutline } from '../outline/parse-outline.ts';
import { inWorkspace } from '../paths.ts';
import { clipLine, fitted, linesOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

/** Largest file that is outlined: a larger one is generated, or data. */
const MAX_BYTES = 2 * 2 ** 20;
const LINE_CHARS = 120;

const OutlinedFile = wire.named(
  'AgentOutline',
  z.object({
    path: z.string(),
    lines: z.array(z.object({ line: wire.uint64(), text: z.string() })),
    by: z.enum(['syntax', 'headings', 'indentation']).optional().describe('Method that found the lines.'),
    problem: z.string().optional().describe('Why there are none, if other files have some.'),
  }),
);
type OutlinedFile = z.input<typeof OutlinedFile>;

export const outline = agent.defineFunction({
  id: 'agent::outline',
  summary: 'List functions, classes and headings of files with line numbers.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['paths[]'] },
  request: z.object({ paths: z.array(z.string()).min(1) }),
  response: z.object({ files: z.array(OutlinedFile) }),
  reads: { line: ['paths'] },
  errors: ['A210', 'A211', 'A213', 'A215', 'A216'],
  examples: [{ paths: ['README.md'] }],

  async handle({ paths }, context, scope) {
    const files: OutlinedFile[] = [];
    const failures: Failure[] = [];
    for (const path of paths) {
      try {
        files.push(await outlineOf(inWorkspace(path, context), context, scope));
      } catch (error) {
        const failure = error instanceof Failure ? error : translate(error, { context, door: scope.door });
        if (!failure) throw error;
        failures.push(failure);
        files.push({ path, lines: [], problem: `${failure.code}: ${failure.message}` });
      }
    }
    if (failures.length === paths.length) throw failures[0]!;
    return { files };
  },

  text({ files }, { replyChars }) {
    const lines = files.flatMap(({ path, lines: found, problem }) => {
      if (problem !== undefined) return [`${path}: ${problem}`];
      return [
        found.length === 0 ? `${path}: nothing found` : path,
        ...found.map(({ line, text }) => `${line}: ${text}`),
      ];
    });
    return fitted(lines, replyChars, (left) => `… ${left} more lines: name fewer files`);
  },
});

async function outlineOf(path: string, { jail }: AgentContext, scope: CallScope): Promise<OutlinedFile> {
  using file = jail.open(path);
  if (file.size > MAX_BYTES) {
    const advice = '; read a part of it';
    throw errors.fail('A213', { path, size: file.size, limit: MAX_BYTES, key: null, advice });
  }
  const text = (await file.read()).toString();
  const lines = linesOf(text);
  scope.throwIfAborted();
  const { by, found } = await find(path, text, lines);
  return {
    path,
    by,
    lines: found.map((line) => ({ line, text: clipLine(lines[line - 1]?.trimEnd() ?? '', LINE_CHARS) })),
  };
}

async function find(path: string, text: string, lines: readonly string[]) {
  const grammar = grammarOf(path);
  const parsed = grammar === undefined ? undefined : await parseOutline(text, grammar);
  if (parsed) return { by: 'syntax' as const, found: parsed };
  if (/\.(?:md|mdx|markdown)$/i.test(path)) return { by: 'headings' as const, found: headingLines(lines) };
  return { by: 'indentation' as const, found: indentedLines(lines) };
}
