/**
 * agent::read: shows files or parts of them with line numbers, several in one call.
 *
 * A file that cannot be read does not hide the others; the call fails only if none can.
 */
import { z } from 'zod';

import { Failure, wire, type CallScope } from '#contract';
import { HostError, readImage } from '#host';
import { errors, translate } from '../errors.ts';
import { inWorkspace } from '../paths.ts';
import { readPart } from '../read-lines.ts';
import type { Session } from '../session.ts';
import { numbered, someOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

/** Limit for parts that the call selects by lines: such a caller wants more than a preview. */
const ASKED_CHARS = 32_000;
/** Reserved for the header of a part, beside its path. */
const HEAD_CHARS = 60;
const MOST_NAMES = 10;

const ReadFile = wire.named(
  'AgentReadFile',
  z.object({
    path: z.string().describe('From the workspace.'),
    lines: z.array(z.string()).optional().describe('Without their endings.'),
    line_from: wire.uint64().optional().describe('Number of the first line.'),
    total_lines: wire
      .uint64()
      .optional()
      .describe('Lines in the file; absent for a large file that was not read to its end.'),
    next: z.string().optional().describe('Path to read next, if the lines did not fit.'),
    image: z.object({ mime_type: z.string(), base64: z.string() }).optional(),
    problem: z.string().optional().describe('Why it was not read, if others were.'),
  }),
);
type ReadFile = z.input<typeof ReadFile>;

export const read = agent.defineFunction({
  id: 'agent::read',
  summary: 'Read files with line numbers, several at once: "src/a.ts", or a part "src/a.ts:120-180". Shows images.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { ranges: ['paths[]'] },
  request: z.object({ paths: z.array(z.string()).min(1) }),
  response: z.object({ files: z.array(ReadFile) }),
  reads: { line: ['paths'] },
  errors: ['A210', 'A211', 'A213', 'A215', 'A216'],
  examples: [{ paths: ['README.md'] }, { paths: ['README.md:1-20', 'package.json'] }],

  async handle({ paths }, context, scope) {
    const session = context.sessions.of(scope.call);
    const left = { whole: context.replyChars, asked: ASKED_CHARS };
    const files: ReadFile[] = [];
    const failures: Failure[] = [];
    for (const path of paths) {
      try {
        files.push(await readOne(path, left, { context, session, scope }));
      } catch (error) {
        const failure = error instanceof Failure ? error : translate(error, { context, door: scope.door });
        if (!failure) throw error;
        failures.push(failure);
        files.push({ path, problem: `${failure.code}: ${failure.message}` });
      }
    }
    if (failures.length === paths.length) throw failures[0]!;
    return { files };
  },

  text({ files }) {
    const unread = files.filter(({ lines, next }) => lines?.length === 0 && next !== undefined);
    const names = unread.map(({ path }) => path);
    return [
      ...files.filter((file) => !unread.includes(file)).map(textOf),
      ...(unread.length > 0 ? [`not read, the reply is full: ${someOf(names, MOST_NAMES)}`] : []),
    ].join('\n\n');
  },
});

interface Around {
  readonly context: AgentContext;
  readonly session: Session;
  readonly scope: CallScope;
}

async function readOne(
  asked: string,
  left: { whole: number; asked: number },
  { context, session, scope }: Around,
): Promise<ReadFile> {
  const { path, from, to } = partOf(asked, context);
  using file = context.jail.open(path);
  const image = await readImage(file);
  if (image) return { path, image };

  const budget = to === undefined ? 'whole' : 'asked';
  if (left[budget] <= 0) return { path, lines: [], next: asked };
  const part = await readPart(file, path, { from, to, maxChars: left[budget] }, { ...context, scope });
  left[budget] -= numbered(part.lines, part.from).length + 2 * path.length + HEAD_CHARS;
  if (part.version !== undefined) session.sawVersion(file.relativePath, part.version);
  const next = part.from + part.lines.length;
  return {
    path,
    lines: part.lines,
    line_from: part.from,
    ...(part.total !== undefined && { total_lines: part.total }),
    ...(part.isCut && { next: `${path}:${next}-${to ?? part.total ?? next + part.lines.length}` }),
  };
}

/** A file whose name ends like a range is read itself. */
function partOf(asked: string, context: AgentContext): { path: string; from: number; to?: number } {
  const [, name, first, last] = /^(.+):(\d+)(?:-(\d+)?)?$/.exec(asked) ?? [];
  const whole = inWorkspace(asked, context);
  if (name === undefined || exists(whole, context)) return { path: whole, from: 1 };

  const from = Math.max(1, Number(first));
  const isOne = !/-\d*$/.test(asked);
  const to = isOne ? from : last === undefined ? undefined : Number(last);
  if (to !== undefined && to < from) {
    throw errors.fail('A210', { problem: `${asked}: line ${to} is before line ${from}; write "path:120-180"` });
  }
  return { path: inWorkspace(name, context), from, ...(to !== undefined && { to }) };
}

function exists(path: string, { jail }: AgentContext): boolean {
  try {
    using entry = jail.entry(path);
    return entry.stat !== undefined;
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}

function textOf({ path, lines = [], line_from = 1, total_lines, next, image, problem }: ReadFile): string {
  if (problem !== undefined) return `${path}: not read: ${problem}`;
  if (image) return `${path}: image`;
  const last = line_from + lines.length - 1;
  const isWhole = line_from === 1 && last === total_lines;
  const head = isWhole ? path : `${path} ${line_from}-${last}${total_lines === undefined ? '' : ` of ${total_lines}`}`;
  if (lines.length === 0) return `${path}: empty`;
  return [head, numbered(lines, line_from), ...(next === undefined ? [] : [`… continues at ${next}`])].join('\n');
}
