/** agent::output: parts of an output that was too long for its reply, without running the command again. */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { waitForJob } from '../commands/job-output.ts';
import { withLost } from '../commands/job-text.ts';
import { errors } from '../errors.ts';
import { clipLine, fitting, linesOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

const MAX_MATCHES = 120;
const MAX_CONTEXT = 20;
const GREP_MS = 20_000;

export const output = agent.defineFunction({
  id: 'agent::output',
  summary: 'Look into a kept output (o1) or a job (j1) without running it again.',
  effect: 'read',
  permissions: ['process.read'],
  calls: ['shell::output'],
  request: z.object({
    id: z.string(),
    grep: z.string().min(1).optional().describe('Regex; with `context` lines around.'),
    context: wire.uint32().max(MAX_CONTEXT).optional(),
    from: wire.uint32().min(1).optional().describe('Line to read from.'),
    tail: wire.uint32().min(1).optional().describe('Last lines.'),
  }),
  response: z.object({
    lines: z.array(z.object({ line: wire.uint64(), text: z.string() })),
    total_lines: wire.uint64(),
    matches: wire.uint64().optional().describe('With grep: lines that match.'),
    truncated: z.boolean().optional().describe('With grep: whether matches are left out.'),
  }),
  reads: { line: ['id', 'grep'] },
  errors: ['A210', 'A216', 'A224'],
  examples: [],

  async handle({ id, grep, context: around = 0, from, tail }, context, scope) {
    if ([grep, from, tail].filter((one) => one !== undefined).length > 1) {
      throw errors.fail('A210', { problem: 'send one of grep, from and tail' });
    }
    const text = await textOf(id, context, scope);
    const all = linesOf(text);
    const found = grep === undefined ? undefined : await matching(text, grep, { context, scope });
    const first = tail === undefined ? (from ?? 1) : Math.max(1, all.length - tail + 1);
    if (first > Math.max(1, all.length)) {
      const problem = `${id} has ${all.length} lines, so there is no line ${first}; send a smaller number`;
      throw errors.fail('A210', { problem });
    }
    const wanted = found ? near(found.slice(0, MAX_MATCHES), around, all.length) : numbersFrom(first, all.length);
    const lines = wanted.map((line) => ({ line, text: clipLine(all[line - 1]!, 500) }));
    const fit = fitting(
      lines.map(({ line, text: one }) => `${line}: ${one}`),
      context.replyChars,
    );
    return {
      lines: lines.slice(0, fit),
      total_lines: all.length,
      ...(found && {
        matches: found.length,
        truncated: fit < lines.length || found.length > MAX_MATCHES,
      }),
    };
  },

  text({ lines, total_lines, matches, truncated }) {
    if (lines.length === 0) return matches === undefined ? '(empty)' : `no line of ${total_lines} matches`;
    const shown = lines.map(({ line, text }) => `${line}: ${text}`);
    const last = lines.at(-1)!.line;
    const isCut = matches === undefined ? last < total_lines : truncated === true;
    const more =
      matches === undefined
        ? `… continues at line ${last + 1} of ${total_lines}`
        : `… ${matches} lines match; narrow grep, or read from line ${last + 1}`;
    return [...shown, ...(isCut ? [more] : [])].join('\n');
  },
});

async function textOf(id: string, context: AgentContext, scope: CallScope): Promise<string> {
  const session = context.sessions.of(scope.call);
  if (!id.startsWith('j')) return session.output(id);
  return withLost(await waitForJob(session.job(id).jobId, { since: 0, waitMs: 0 }, scope));
}

/** Numbers of the matching lines. The regex comes from the caller, so it runs where it cannot block the server. */
async function matching(
  text: string,
  pattern: string,
  { context, scope }: { context: AgentContext; scope: CallScope },
): Promise<number[]> {
  const bytes = Buffer.from(text);
  const limits = { signal: scope.signal, timeoutMs: GREP_MS };
  const found = await context.workspace.regexes.findLines({ pattern, text: bytes, limit: Infinity }, limits);
  let [line, at] = [1, 0];
  return found.map(({ lineStart }) => {
    for (; at < lineStart; at++) if (bytes[at] === 0x0a) line++;
    return line;
  });
}

function near(found: readonly number[], around: number, total: number): number[] {
  const lines = new Set<number>();
  for (const line of found) {
    for (let at = Math.max(1, line - around); at <= Math.min(total, line + around); at++) lines.add(at);
  }
  return [...lines].sort((a, b) => a - b);
}

function numbersFrom(first: number, total: number): number[] {
  return Array.from({ length: Math.max(0, total - first + 1) }, (_, i) => first + i);
}
