/**
 * A worker: a name, a configuration, a table of failures, a live context, and its functions.
 *
 * Functions are added after the fact (`withFunctions`), because each function file imports its
 * worker; the list lives in the worker's index and there is no cycle.
 */
import type { z } from 'zod';

import { handlerFailure, type ErrorBody } from '#protocol';
import { shippedCell, type CellConfig } from './cell-config.ts';
import type { Errors, ErrorTable, Failure } from './define-errors.ts';
import type { FunctionDef } from './define-function.ts';
import type { Door } from './doors/door.ts';
import type { Log } from './log.ts';

export interface WorkerSpec<Config extends z.ZodType, Table extends ErrorTable, Context> {
  /** As it stands in the configuration file and in worker lists. */
  name: string;
  summary: string;
  /** Of the contract that it keeps, where that has one of its own; else that of this package is shown. */
  version?: string;
  config: Config;
  /** The block where the operator wrote none, beside the defaults of its keys; `worker add` writes it too. */
  shippedBlock?: Record<string, unknown>;
  /** What the block takes from the workspace directory when it does not say otherwise. */
  workspaceDefaults?(workspace: string): Record<string, unknown>;
  errors: Errors<Table>;
  /** The failures that the call machinery itself needs. */
  failures: {
    badInput(problem: string, functionId: string): Failure;
    internal(callId: string): Failure;
    deadline(deadlineMs: number): Failure;
  };
  /** A thrown thing that is not a `Failure` but that this worker knows the answer to; with help for who is at a door. */
  translate?(error: unknown, call?: { context: NoInfer<Context>; door?: Door }): Failure | undefined;
  /** How a failure is spelled on the wire; as an iii handler failure unless said otherwise. */
  spell?(failure: Failure, engine?: { httpUrl?: string }): ErrorBody;
  /** The result that stands for a failure, for a worker whose contract has no failed calls; then nothing is spelled. */
  failedResult?(failure: Failure): unknown;
  /** Turns configuration into the live context; a refusal here is a refusal to start. */
  open(config: z.output<Config>, log: Log, cell: CellConfig): Promise<Context> | Context;
  /** Called once by a server that stays up: makes the first calls fast. Calls may come before it resolves. */
  prepare?(context: Context): Promise<void>;
  close?(context: Context): Promise<void> | void;
}

/** What a worker has whether its author wrote it or not. */
type Defaulted = 'translate' | 'spell' | 'prepare' | 'close' | 'workspaceDefaults' | 'shippedBlock';

export interface WorkerDef<
  Config extends z.ZodType = z.ZodType,
  Table extends ErrorTable = ErrorTable,
  Context = unknown,
  Fn extends FunctionDef<Context> = FunctionDef<Context>,
>
  extends
    Required<Pick<WorkerSpec<Config, Table, Context>, Defaulted>>,
    Omit<WorkerSpec<Config, Table, Context>, Defaulted | 'open'> {
  open(config: z.output<Config>, log: Log, cell?: CellConfig): Promise<Context> | Context;
  readonly functions: readonly Fn[];
  /** Types a definition against this worker's context and codes. It returns what it is given. */
  defineFunction<Request extends z.ZodType, Response extends z.ZodType, Id extends string>(
    def: FunctionDef<Context, Request, Response, keyof Table & string, Id>,
  ): FunctionDef<Context, Request, Response, keyof Table & string, Id>;
  /** The list keeps the type of each function, from which callers in TypeScript know requests and responses. */
  withFunctions<Given extends FunctionDef<Context>>(
    functions: readonly (Given & FunctionDef<Context>)[],
  ): WorkerDef<Config, Table, Context, Given>;
}

/** A worker whatever its configuration, codes and context: for lists, and for those who only run it. */
export type AnyWorker = Omit<WorkerDef, 'errors' | 'defineFunction' | 'withFunctions'> & {
  readonly errors: { readonly table: ErrorTable };
};

export function defineWorker<Config extends z.ZodType, Table extends ErrorTable, Context>(
  spec: WorkerSpec<Config, Table, Context>,
): WorkerDef<Config, Table, Context> {
  return {
    translate: () => undefined,
    spell: (failure) => handlerFailure(failure.toFields()),
    prepare: async () => {},
    close: () => {},
    workspaceDefaults: () => ({}),
    shippedBlock: {},
    ...spec,
    open: (config, log, cell = shippedCell) => spec.open(config, log, cell),
    functions: [],
    defineFunction: (def) => def,
    withFunctions(functions) {
      return { ...this, functions };
    },
  };
}
