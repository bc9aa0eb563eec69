/**
 * The first step: whether a call may be made. No other code applies policies to calls.
 *
 * It checks the principal of the call, not its connection: a call that a worker makes for its caller is limited to
 * the grants of the caller, so a surface that lists fewer functions need not enforce that itself.
 */
import { z } from 'zod';

import {
  RISKS,
  type AccessControl,
  type CalledFunction,
  type Decision,
  type Denial,
  type Failure,
  type Principal,
} from '#contract';
import { workerSegment } from '#protocol';
import { fail } from '../errors.ts';
import { DEFAULT_NAMESPACE, splitNamespace } from '../namespace.ts';
import { isFar } from '../registry.ts';
import type { Executor } from './executor.ts';

/** The access that a function declares; a function without a declaration may do anything. */
const AnnouncedSchema = z.object({
  effect: z.string().optional().catch(undefined),
  permissions: z.array(z.string()).default([]).catch([]),
  risk: z.enum(RISKS).optional().catch(undefined),
});

type Announced = z.output<typeof AnnouncedSchema>;

/** The decision and its rule; `failure` is the answer of a denied call. */
export interface Ruling extends Decision {
  readonly failure?: Failure;
}

/** Every client needs these to work as one; they change nothing that belongs to others. */
const PLUMBING = new Set([
  'engine::workers::register',
  'engine::functions::list',
  'engine::functions::info',
  'engine::channels::create',
  'engine::watch',
]);

type Served = CalledFunction & { readonly owner?: Executor };

const GRANTED: Ruling = { verdict: 'allow', rule: 'no policy' };

export class Policies {
  readonly #denials: (Denial & { namespace: string })[] = [];
  readonly #access: AccessControl | undefined;

  constructor(access?: AccessControl) {
    this.#access = access;
  }

  /** The policy of callers at other nodes. */
  get ofNodes(): string | undefined {
    return this.#access?.nodes;
  }

  /** Denies to every caller, in one namespace. */
  deny(namespace: string, denial: Denial): void {
    this.#denials.push({ ...denial, namespace });
  }

  /** The payload is unvalidated. */
  authorize({ label, grants }: Principal, fn: Served, payload: unknown): Ruling {
    const { only, isReadOnly, policy } = grants;
    if (only && !only.includes(fn.id) && !only.includes(workerSegment(fn.id))) {
      return denied(fn.id, 'tools of the client', `${label} may call only ${only.join(', ')}`);
    }
    if (isReadOnly && announcedBy(fn).effect !== 'read') {
      return denied(fn.id, 'read-only', `${label} may call only what changes nothing and runs nothing`);
    }
    const ruling = this.byDenials(fn);
    if (ruling.failure || policy === undefined || PLUMBING.has(fn.id)) return ruling;
    return this.#byPolicy(policy, fn, payload);
  }

  /** Checks only the denials of apps: for a function of another node, which checks the caller's grants itself. */
  byDenials(fn: Served): Ruling {
    const namespace = namespaceHere(fn);
    const isDeniedHere = this.#denials.some((denial) => denial.namespace === namespace && isDenied(fn, denial));
    return isDeniedHere ? denied(fn.id, 'app', 'the app of its namespace does not offer it') : GRANTED;
  }

  #byPolicy(policy: string, fn: CalledFunction, payload: unknown): Ruling {
    const decision = this.#access?.decide(policy, fn, payload) ?? { verdict: 'deny', rule: `${policy}: no policies` };
    if (decision.verdict !== 'deny') return decision;
    const { rule, reason } = decision;
    return denied(fn.id, rule, reason === undefined ? `policy ${rule}` : `${reason} (policy ${rule})`);
  }
}

function denied(id: string, rule: string, why: string): Ruling {
  return { verdict: 'deny', rule, failure: fail('forbidden', { text: `${id} may not be called: ${why}` }) };
}

/**
 * A function of another node, called by the name of that node, is denied like one that is called by its id alone. There
 * the node's own name is the default namespace too, by whichever name the node is called.
 */
function namespaceHere({ owner, namespace }: Served): string {
  if (!owner || !isFar(owner) || namespace === DEFAULT_NAMESPACE) return namespace;
  const { inner } = splitNamespace(namespace);
  return inner === owner.node?.name ? DEFAULT_NAMESPACE : inner;
}

function isDenied(fn: CalledFunction, { functions, permissions, risks }: Denial): boolean {
  if (functions.includes(fn.id)) return true;
  const { permissions: needed, risk } = announcedBy(fn);
  return needed.some((permission) => permissions.includes(permission)) || (risk !== undefined && risks.includes(risk));
}

const announced = new WeakMap<object, Announced>();

/** Parsed once for each function: metadata is any value of a worker. */
function announcedBy({ metadata }: CalledFunction): Announced {
  if (typeof metadata !== 'object' || metadata === null) return { permissions: [] };
  const known = announced.get(metadata);
  if (known) return known;
  const made = AnnouncedSchema.safeParse(metadata).data ?? { permissions: [] };
  announced.set(metadata, made);
  return made;
}
