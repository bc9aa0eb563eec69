/**
 * One file operation, independent of the worker that publishes it: its request, its response and its work on a
 * `FileSystem`.
 *
 * A worker adds an id, its own fields that select the file system, and the wording of failures. The codes are shared by
 * all workers with these operations.
 */
import type { z } from 'zod';

import type { CallScope, FunctionDef } from '#contract';
import type { FileSystem } from '#host';
import type { OpenReads } from './open-reads.ts';

export type FileCode = 'S210' | 'S211' | 'S212' | 'S213' | 'S214' | 'S215' | 'S216' | 'S217' | 'S218';

/** The file system of a call, and its limits. */
export interface FileContext {
  readonly files: FileSystem;
  /** Infinity for no limit, as for the limits below. */
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  /** How long a write waits for the next bytes. */
  readonly idleMs: number;
  readonly openReads: OpenReads;
}

type Described = Pick<
  FunctionDef<never>,
  | 'summary'
  | 'details'
  | 'effect'
  | 'permissions'
  | 'subject'
  | 'isDestructive'
  | 'isIdempotent'
  | 'failsInItems'
  | 'modelDefaults'
  | 'deadlineMs'
  | 'reads'
>;

export interface FileOperation<
  Request extends z.ZodObject = z.ZodObject,
  Response extends z.ZodType = z.ZodType,
> extends Described {
  request: Request;
  response: Response;
  errors: readonly FileCode[];
  examples: readonly z.input<Request>[];
  handle(request: z.output<Request>, context: FileContext, scope: CallScope): Promise<z.input<Response>>;
}

/** Infers the types of a definition; returns its argument. */
export function defineOperation<Request extends z.ZodObject, Response extends z.ZodType>(
  operation: FileOperation<Request, Response>,
): FileOperation<Request, Response> {
  return operation;
}
