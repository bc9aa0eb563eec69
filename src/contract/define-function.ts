/**
 * One function, defined once: identity, schemas, errors, examples and the work.
 *
 * Bus registration, HTTP route, OpenAPI entry, CLI help and reference page all derive from this.
 */
import type { z } from 'zod';

import type { CallEvent, EncodedObject } from '#protocol';
import type { Subject } from './access.ts';
import type { CallScope } from './call-scope.ts';
import type { Scope } from './cluster/scope.ts';
import type { Reads } from './reads.ts';

/** The worst effect of a call. Surfaces derive hints and confirmations from it. */
export type Effect = 'read' | 'write' | 'delete' | 'execute';

/** How much harm a mistaken call can do. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** Facts for the operator's policy, beside effect and permissions. */
export interface Policy {
  readonly risk: Risk;
  /** Side effects, such as `filesystem_write`. */
  readonly sideEffects: readonly string[];
  /** Configuration keys that limit it. */
  readonly constraints: readonly string[];
}

export interface FunctionDef<
  Context,
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Code extends string = string,
  Id extends string = string,
> {
  id: Id;
  /** One line, for lists, help and models. */
  summary: string;
  /** Facts that the summary and the fields leave out. */
  details?: string;
  effect: Effect;
  /** Whether it can change or remove existing data, not only add; derived from the effect when absent. */
  isDestructive?: boolean;
  /** Whether a second equal call changes nothing more; a read always is. */
  isIdempotent?: boolean;
  /** Permissions that a caller needs, such as `fs.read`. */
  permissions: readonly string[];
  /** Subject of a call, for rules of the operator over paths and programs. */
  subject?: Subject;
  policy?: Policy;
  /** Reach in a cluster; `host` for a worker in the process of its node, `one` for every other when absent. */
  scope?: Scope;
  /** Omitted from lists unless they ask for it: made for a program of this product. */
  isInternal?: boolean;
  /** Whether it only reports events until its caller disconnects. Listed only with the internal functions. */
  isWatch?: boolean;
  request: Request;
  response: Response;
  /** Schema of the events of a call, for callers that ask for them. */
  events?: z.ZodType<CallEvent>;
  /** The list in the response whose items fail individually: `success: false`, and the failure in `error`. */
  failsInItems?: string;
  /** Defaults of fields for a model, where they differ from those of the contract. */
  modelDefaults?: Readonly<Record<string, unknown>>;
  errors: readonly Code[];
  /** How a reply reads as text, for MCP and the CLI; bus and HTTP get the reply itself. */
  text?(response: z.input<Response>, context: Context): string;
  /** How its calls read in lists of calls. */
  reads?: Reads;
  /** Functions that it calls in its caller's name, beside its own work. */
  calls?: readonly string[];
  /** Requests that work on any ordinary workspace; documentation and smoke tests use them. */
  examples: readonly z.input<Request>[];
  /** Timeout of a call; default 120,000. Then its signal aborts and the caller gets an error. */
  deadlineMs?: number;
  handle(
    request: z.output<Request>,
    context: Context,
    scope: CallScope,
  ): Promise<Result<z.input<Response>>> | Result<z.input<Response>>;
}

/** A handler's result; a large field may be encoded as JSON already. */
type Result<T> = T | (T extends object ? EncodedObject<T> : never);

export const DEFAULT_DEADLINE_MS = 120_000;
