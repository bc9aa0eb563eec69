/**
 * The request of shell::exec and shell::exec_bg.
 *
 * A model that sends the wrong type gets a message with the right form, so common mistakes are caught before the
 * schema; a `timeout_ms` that is not a count of milliseconds counts as absent.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { FENCES } from './config.ts';
import { refuse } from './errors.ts';
import { Target } from './target.ts';

const Fields = z.object({
  command: z
    .string()
    .describe(
      'The program, by name or path. Without `args`, a whole command line: words and quotes as in a shell, nothing expanded. Empty with `script`.',
    ),
  args: z
    .array(z.string())
    .nullable()
    .default(null)
    .describe('The arguments, verbatim. An empty list means none; absent or null, `command` is split into words.'),
  timeout_ms: wire
    .uint64()
    .nullable()
    .default(null)
    .describe('Milliseconds after which the command is killed, at most max_timeout_ms. Default default_timeout_ms.'),
  target: Target.default({ kind: 'host' }).describe(
    'Where the command runs: on this host, or in a sandbox, by its `sandbox_id` from sandbox::create.',
  ),
  cwd: z
    .string()
    .nullish()
    .describe('Directory to run in: absolute, or relative to fs.host_root, which it cannot leave. Host only.'),
  env: z
    .record(z.string(), z.string())
    .nullish()
    .describe('Variables to set or replace; without a fence only names that allowed_env lists. Host only.'),
  stdin: z.string().nullish().describe('Standard input. Default empty. Host only.'),
  script: z
    .string()
    .nullish()
    .describe('A line or a script for /bin/sh, in place of `command` and `args`. Only inside the fence.'),
  fence: z
    .enum(FENCES)
    .nullish()
    .describe(
      '`workspace` runs it inside the fence where the operator leaves it off; `change` also throws away its changes in the workspace, unless the call names a change. Only stricter than shell.fence. Host only.',
    ),
});

export type ExecRequest = z.output<typeof Fields>;

/** The request schema under the name that the original publishes it by, with fields of ours. */
export function execRequest<More extends z.ZodRawShape>(title: string, more: More) {
  return z.preprocess(meetMistakes, Fields.extend(more)).meta({ title });
}

function meetMistakes(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;

  const { command, args, timeout_ms, script } = payload as Record<string, unknown>;
  if (Array.isArray(command)) {
    throw refuse(
      `'command' must be a string (got an array): put the program in 'command' and its arguments, as strings, in 'args'`,
    );
  }
  if (command !== undefined && typeof command !== 'string') {
    throw refuse(`'command' must be a string (got ${kindOf(command)})`);
  }
  if (args != null && !Array.isArray(args)) throw refuse(`'args' must be an array of strings (got ${kindOf(args)})`);

  const stray = args?.findIndex((arg) => typeof arg !== 'string') ?? -1;
  if (stray >= 0) throw refuse(`'args[${stray}]' must be a string (got ${kindOf(args?.[stray])})`);
  const isScript = typeof script === 'string' && command === undefined;
  return { ...payload, ...(isScript && { command: '' }), timeout_ms: toCount(timeout_ms) };
}

/** Whole numbers beyond JSON's precision count as the largest. */
function toCount(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
