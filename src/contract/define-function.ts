/**
 * One function, defined once: identity, schemas, errors, examples and the work.
 *
 * Bus registration, HTTP route, OpenAPI entry, CLI help and reference page all derive from this.
 */
import type { z } from 'zod';

import type { CallEvent, EncodedObject } from '#protocol';
import type { CallScope } from './call-scope.ts';

/** The worst a call can do. Surfaces turn it into hints and confirmations. */
export type Effect = 'read' | 'write' | 'delete' | 'execute';

/** How much harm a mistaken call can do. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** What an operator decides about a function by, beside its effect and its permissions. */
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
  /** What a reader would not guess from the summary and the fields. */
  details?: string;
  effect: Effect;
  /** Whether it can change or remove existing data; derived from the effect when absent. False if it only adds. */
  isDestructive?: boolean;
  /** Whether a second equal call changes nothing more; a read always is. */
  isIdempotent?: boolean;
  /** What a caller needs, such as `fs.read`. */
  permissions: readonly string[];
  policy?: Policy;
  /** Whether it only reports events until its caller leaves. Lists show it only with the internals. */
  isWatch?: boolean;
  request: Request;
  response: Response;
  /** Schema of the events of a call, for callers that ask for them. */
  events?: z.ZodType<CallEvent>;
  /** The list in the response whose items fail individually, with `success: false` and their failure in `error`. */
  failsInItems?: string;
  /** Defaults of fields for a model, where they differ from those of the contract. */
  modelDefaults?: Readonly<Record<string, unknown>>;
  errors: readonly Code[];
  /** Requests that work on any ordinary workspace; documentation and smoke tests use them. */
  examples: readonly z.input<Request>[];
  /** Timeout of a call: then its signal aborts and the caller gets an error. */
  deadlineMs?: number;
  handle(
    request: z.output<Request>,
    context: Context,
    scope: CallScope,
  ): Promise<Result<z.input<Response>>> | Result<z.input<Response>>;
}

/** A handler's result; a large field may be JSON already. */
type Result<T> = T | (T extends object ? EncodedObject<T> : never);

export const DEFAULT_DEADLINE_MS = 120_000;
