/**
 * The target of a call: this host, or a sandbox, that is the equivalent `sandbox::*` function on the bus.
 *
 * A worker's error arrives as text with the code somewhere in it, so the code is searched for; a code that this
 * function does not declare becomes S216.
 */
import { z } from 'zod';

import { CallError, wire, type Bus, type CallOptions, type Failure } from '#contract';
import { errors, type ShellCode } from './errors.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

export const Target = wire.named(
  'Target',
  z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['host']) }),
    z.object({
      kind: z.enum(['sandbox']),
      sandbox_id: z
        .string()
        .refine((id) => UUID.test(id), 'must be a UUID')
        .meta({ format: 'uuid', description: 'Id from sandbox::create.' }),
    }),
  ]),
);
export type Target = z.output<typeof Target>;

export interface Forwarded {
  functionId: string;
  payload: Record<string, unknown>;
  /** Codes that the caller's function declares and passes on. */
  keeps: readonly ShellCode[];
  /** Code for a timeout without one: of this client, or of a worker that reports it only as text. */
  timeoutCode?: ShellCode;
}

/** Refuses when the operator switched sandbox targets off. */
export function requireSandboxes(isEnabled: boolean): void {
  if (isEnabled) return;
  throw errors.fail('S210', {
    problem:
      'sandbox target disabled in config: target the host, or let the operator set sandbox.enabled: true in the shell block',
  });
}

/** Calls a function of the sandbox worker; its failure becomes one of ours. */
export async function forwardToSandbox(bus: Bus, call: Forwarded, options: CallOptions): Promise<unknown> {
  try {
    return await bus.call(call.functionId, call.payload, options);
  } catch (error) {
    throw error instanceof CallError ? recovered(error, call) : error;
  }
}

/** Parses the reply of a function of the sandbox worker. */
export function readReply<Reply extends z.ZodType>(schema: Reply, reply: unknown, functionId: string): z.output<Reply> {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.length ? `\`${issue.path.join('.')}\`` : 'the reply itself';
  const problem =
    `bad engine response: the reply of ${functionId} is not valid at ${at} (${issue?.message}); ` +
    'update the worker that offers it';
  throw errors.fail('S216', { problem }, parsed.error);
}

function recovered(error: CallError, { keeps, timeoutCode }: Forwarded): Failure {
  const sent = /^S\d{3}$/.test(error.code) ? error.code : /\bS\d{3}\b/.exec(error.body.message)?.[0];
  const named = sent ?? (isTimeout(error) ? timeoutCode : undefined);
  const code = keeps.find((kept) => kept === named) ?? 'S216';
  const hint = error.code === 'function_not_found' ? '; is the iii-sandbox worker running?' : '';
  return errors.fail(code, { problem: `forwarded from engine: ${error.message}${hint}` }, error);
}

function isTimeout({ code, message }: CallError): boolean {
  return code === 'TIMEOUT' || message.includes('timed out');
}
