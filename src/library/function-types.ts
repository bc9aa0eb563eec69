/**
 * Request and response types of each function, for callers in TypeScript.
 *
 * Derived from the definitions by types alone: nothing of this exists at run time, and an unknown function takes
 * anything and returns `unknown`.
 */
import type { z } from 'zod';

import type { CallStream } from '#client';
import type { AnyWorker, Bus, CallOptions } from '#contract';
import type { change } from '#workers/change';
import type { coder } from '#workers/coder';
import type { filesystem } from '#workers/filesystem';
import type { sandbox } from '#workers/sandbox';
import type { shell } from '#workers/shell';

interface Workers {
  coder: typeof coder;
  shell: typeof shell;
  filesystem: typeof filesystem;
  change: typeof change;
  'iii-sandbox': typeof sandbox;
}

type DefinitionOf<Name extends keyof Workers> = Workers[Name]['functions'][number];
/** Workers whose calls may work in a change. */
type Changing = 'coder' | 'shell' | 'filesystem';

/** For `z.preprocess` schemas callers send the inner schema's input. */
type Sent<Schema extends z.ZodType> = Schema extends z.ZodPreprocess<infer Then> ? z.input<Then> : z.input<Schema>;

/** Definitions by id: the request as sent, the response as received. */
type TypesOf<Fn extends { id: string; request: z.ZodType; response: z.ZodType }> = {
  [One in Fn as One['id']]: { request: Sent<One['request']>; response: z.output<One['response']> };
};

/** The same functions with the field that the contract adds to their requests. */
type InChanges<Types extends FunctionMap> = {
  [Id in keyof Types]: { request: Types[Id]['request'] & { change?: string | null }; response: Types[Id]['response'] };
};

/** Functions by their ids. */
export type FunctionMap = Record<string, { request: unknown; response: unknown }>;
/** The functions of Workcell's own workers. */
export type FunctionTypes = InChanges<TypesOf<DefinitionOf<Changing>>> &
  TypesOf<DefinitionOf<Exclude<keyof Workers, Changing>>>;
/** The functions of workers that a program brings itself. */
export type FunctionsOf<Def extends AnyWorker> = TypesOf<Def['functions'][number]>;

export type FunctionId = keyof FunctionTypes;
export type RequestOf<Id extends string, Functions = FunctionTypes> = Id extends keyof Functions
  ? (Functions[Id] & { request: unknown })['request']
  : unknown;
export type ResponseOf<Id extends string, Functions = FunctionTypes> = Id extends keyof Functions
  ? (Functions[Id] & { response: unknown })['response']
  : unknown;

/** A request whose fields are all optional may be left out. */
type CallArguments<Id extends string, Functions> =
  Record<never, never> extends RequestOf<Id, Functions>
    ? [payload?: RequestOf<Id, Functions>, options?: CallOptions]
    : [payload: RequestOf<Id, Functions>, options?: CallOptions];

/** Any id, of which editors complete the known ones. */
type AnyId<Functions> = (keyof Functions & string) | (string & Record<never, never>);

declare const functions: unique symbol;

/** The bus, with the types of Workcell's functions, or of these. */
export interface TypedBus<Functions = FunctionTypes> extends Omit<Bus, 'call'> {
  /** For the compiler only: `workcellTools` infers its types from it. */
  readonly [functions]?: Functions;
  call<Id extends AnyId<Functions>>(
    functionId: Id,
    ...rest: CallArguments<Id, Functions>
  ): Promise<ResponseOf<Id, Functions>>;
  /** The same call as an async iterable of its events, with its result beside it. */
  stream<Id extends AnyId<Functions>>(
    functionId: Id,
    ...rest: CallArguments<Id, Functions>
  ): CallStream<ResponseOf<Id, Functions>>;
}

/** A worker to run, with its configuration beside the workspace. */
export type WorkerChoice = {
  [Name in keyof Workers]: { name: Name; config?: z.input<Workers[Name]['config']> };
}[keyof Workers];

/** A worker that the program brings itself, made with `defineWorker` of `workcell/contract`. */
export interface OwnWorker<Def extends AnyWorker = AnyWorker> {
  def: Def;
  config?: z.input<Def['config']>;
}
