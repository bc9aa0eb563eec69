/**
 * The first step: whether a call may be made. No other code applies policies to calls.
 *
 * It checks the principal of the call, not its connection: a call that a worker makes for its caller is limited to
 * what the caller may do, so a surface that lists fewer functions need not enforce that itself.
 */
import { z } from 'zod';

import { RISKS, type Denial, type Failure, type Principal } from '#contract';
import { workerSegment } from '#protocol';
import { fail } from '../errors.ts';

/** The called function as registered; without metadata if no worker serves it. */
export interface CalledFunction {
  readonly id: string;
  readonly namespace: string;
  readonly metadata?: unknown;
}

/** The access that a function declares; a function without a declaration may do anything. */
const AnnouncedSchema = z.object({
  effect: z.string().optional().catch(undefined),
  permissions: z.array(z.string()).default([]).catch([]),
  risk: z.enum(RISKS).optional().catch(undefined),
});

export class Policies {
  readonly #denials: (Denial & { namespace: string })[] = [];

  /** Denies to every caller, in one namespace. */
  deny(namespace: string, denial: Denial): void {
    this.#denials.push({ ...denial, namespace });
  }

  /** Undefined when the call may proceed. The payload is unvalidated. */
  authorize({ label, grants }: Principal, fn: CalledFunction, _payload: unknown): Failure | undefined {
    const { only, isReadOnly } = grants;
    if (only && !only.includes(fn.id) && !only.includes(workerSegment(fn.id))) {
      return refusal(fn.id, `${label} may call only ${only.join(', ')}`);
    }
    if (isReadOnly && announcedBy(fn).effect !== 'read') {
      return refusal(fn.id, `${label} may call only what changes nothing and runs nothing`);
    }
    const isDeniedHere = this.#denials.some((denial) => denial.namespace === fn.namespace && isDenied(fn, denial));
    return isDeniedHere ? refusal(fn.id, 'the app of its namespace does not offer it') : undefined;
  }
}

function isDenied(fn: CalledFunction, { functions, permissions, risks }: Denial): boolean {
  if (functions.includes(fn.id)) return true;
  const { permissions: needed, risk } = announcedBy(fn);
  return needed.some((permission) => permissions.includes(permission)) || (risk !== undefined && risks.includes(risk));
}

function announcedBy({ metadata }: CalledFunction): z.output<typeof AnnouncedSchema> {
  return AnnouncedSchema.safeParse(metadata).data ?? { permissions: [] };
}

function refusal(id: string, why: string): Failure {
  return fail('forbidden', { text: `${id} may not be called: ${why}` });
}
