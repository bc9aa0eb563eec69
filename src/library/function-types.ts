/**
 * What each function takes and gives, for callers in TypeScript.
 *
 * Derived from the definitions by types alone: nothing of this is there when the program runs, and a function that is
 * not among them is called with anything and answers `unknown`.
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

/** What is mended before it is looked at (`z.preprocess`) is sent as it is looked at. */
type Sent<Schema extends z.ZodType> = Schema extends z.ZodPreprocess<infer Then> ? z.input<Then> : z.input<Schema>;

/** By id: the request as it is sent, the response as it comes. */
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

/** The bus, knowing what the functions of Workcell take and give. */
export interface TypedBus extends Omit<Bus, 'call'> {
  /** The first form is for editors, which then know the ids. */
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

/** A worker to run, with what its configuration says beside the workspace. */
export type WorkerChoice = {
  [Name in keyof Workers]: { name: Name; config?: z.input<Workers[Name]['config']> };
}[keyof Workers];
