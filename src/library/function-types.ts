/**
 * Request and response types of each function, for callers in TypeScript.
 *
 * Derived from the definitions by types alone: nothing of this exists at run time, and an unknown function takes
 * anything and returns `unknown`.
 */
import type { z } from 'zod';

import type { CallStream } from '#client';
import type { Bus, CallOptions } from '#contract';
import type { coder } from '#workers/coder';
import type { filesystem } from '#workers/filesystem';
import type { sandbox } from '#workers/sandbox';
import type { shell } from '#workers/shell';

interface Workers {
  coder: typeof coder;
  shell: typeof shell;
  filesystem: typeof filesystem;
  'iii-sandbox': typeof sandbox;
}

type Definition = Workers[keyof Workers]['functions'][number];

/** For `z.preprocess` schemas callers send the inner schema's input. */
type Sent<Schema extends z.ZodType> = Schema extends z.ZodPreprocess<infer Then> ? z.input<Then> : z.input<Schema>;

/** By id: the request as sent, the response as received. */
export type FunctionTypes = {
  [Fn in Definition as Fn['id']]: { request: Sent<Fn['request']>; response: z.output<Fn['response']> };
};

export type FunctionId = keyof FunctionTypes;
export type RequestOf<Id extends string> = Id extends FunctionId ? FunctionTypes[Id]['request'] : unknown;
export type ResponseOf<Id extends string> = Id extends FunctionId ? FunctionTypes[Id]['response'] : unknown;

/** A request whose fields are all optional may be left out. */
type CallArguments<Id extends string> =
  Record<never, never> extends RequestOf<Id>
    ? [payload?: RequestOf<Id>, options?: CallOptions]
    : [payload: RequestOf<Id>, options?: CallOptions];

/** The bus, with the types of Workcell's functions. */
export interface TypedBus extends Omit<Bus, 'call'> {
  /** Two forms, so that editors complete the known ids. */
  call<Id extends FunctionId | (string & Record<never, never>)>(
    functionId: Id,
    ...rest: CallArguments<Id>
  ): Promise<ResponseOf<Id>>;
  /** The same call as an async iterable of its events, with its result beside it. */
  stream<Id extends FunctionId | (string & Record<never, never>)>(
    functionId: Id,
    ...rest: CallArguments<Id>
  ): CallStream<ResponseOf<Id>>;
}

/** A worker to run, with its configuration beside the workspace. */
export type WorkerChoice = {
  [Name in keyof Workers]: { name: Name; config?: z.input<Workers[Name]['config']> };
}[keyof Workers];
