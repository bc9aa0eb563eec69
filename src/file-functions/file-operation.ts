/**
 * One operation on files, without the worker that publishes it: what it takes, gives and does with a `FileSystem`.
 *
 * A worker adds an id, its own fields that say which file system is meant, and the wording of failures. The codes are
 * those that every worker with these operations shares.
 */
import type { z } from 'zod';

import type { CallScope, FunctionDef } from '#contract';
import type { FileSystem } from '#host';
import type { OpenReads } from './open-reads.ts';

export type FileCode = 'S210' | 'S211' | 'S212' | 'S213' | 'S214' | 'S215' | 'S216' | 'S217' | 'S218';

/** The file system of a call, and what a call may take. */
export interface FileContext {
  readonly files: FileSystem;
  /** Infinity for no limit, as below. */
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  /** How long a write waits for the next bytes. */
  readonly idleMs: number;
  readonly openReads: OpenReads;
}

type Described = Pick<
  FunctionDef<never>,
  'summary' | 'details' | 'effect' | 'isDestructive' | 'isIdempotent' | 'failsInItems' | 'modelDefaults' | 'deadlineMs'
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

/** Types a definition; it returns what it is given. */
export function defineOperation<Request extends z.ZodObject, Response extends z.ZodType>(
  operation: FileOperation<Request, Response>,
): FileOperation<Request, Response> {
  return operation;
}
