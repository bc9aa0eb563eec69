/**
 * A worker: a name, a configuration, a table of failures, a live context, and its functions.
 *
 * Functions are added after the fact (`withFunctions`), because each function file imports its
 * worker; the list lives in the worker's index and there is no cycle.
 */
import type { z } from 'zod';

import { handlerFailure, type ErrorBody } from '#protocol';
import { shippedCell, type CellConfig } from './cell-config.ts';
import { withChangeField } from './change-field.ts';
import type { Errors, ErrorTable, Failure } from './define-errors.ts';
import type { FunctionDef } from './define-function.ts';
import type { Door } from './doors/door.ts';
import type { Log } from './log.ts';
import type { Metric } from './metrics.ts';

export interface WorkerSpec<Config extends z.ZodType, Table extends ErrorTable, Context> {
  /** Name in the configuration file and in worker lists. */
  name: string;
  summary: string;
  /** Version of its contract, if that has one of its own; else the version of this package is shown. */
  version?: string;
  config: Config;
  /** The block if the operator wrote none, beside the defaults of its keys; `worker add` writes it too. */
  shippedBlock?: Record<string, unknown>;
  /** Keys that default to something in the workspace directory. */
  workspaceDefaults?(workspace: string): Record<string, unknown>;
  errors: Errors<Table>;
  /** The failures that the call machinery itself needs. */
  failures: {
    badInput(problem: string, functionId: string): Failure;
    internal(callId: string): Failure;
    deadline(deadlineMs: number): Failure;
  };
  /** Translates an error that this worker knows and that is not a `Failure`; with help for a caller at a `door`. */
  translate?(error: unknown, call?: { context: NoInfer<Context>; door?: Door }): Failure | undefined;
  /** How a failure is written on the wire; as an iii handler failure by default. */
  spell?(failure: Failure, engine?: { httpUrl?: string }): ErrorBody;
  /** The result for a failure, for a worker whose contract has no failed calls; `spell` is not used then. */
  failedResult?(failure: Failure): unknown;
  /** Only for a worker whose calls may work in a change. */
  changes?: {
    /** `field`: its functions have the field `change`. `bound`: only sessions that are bound to a change work in it. */
    named: 'field' | 'bound';
    /** The failure if the change cannot be entered; `translate` makes it. */
    code: NoInfer<keyof Table & string>;
    /** The context for one call. */
    within(context: NoInfer<Context>, change: string): Promise<Within<NoInfer<Context>>>;
  };
  /** Turns configuration into the live context; if it throws, the worker does not start. */
  open(config: z.output<Config>, log: Log, cell: CellConfig): Promise<Context> | Context;
  /** Called once by a long-running server: makes the first calls fast. Calls may come before it resolves. */
  prepare?(context: Context): Promise<void>;
  /** Figures for monitoring, looked up when they are read. Labels for the worker and its namespace are added. */
  metrics?(context: Context): Promise<readonly Metric[]> | readonly Metric[];
  close?(context: Context): Promise<void> | void;
}

/** A context in a change, for one call. */
export interface Within<Context> extends Disposable {
  readonly context: Context;
}

/** Fields of every worker, with defaults filled in. */
type Defaulted = 'translate' | 'spell' | 'prepare' | 'metrics' | 'close' | 'workspaceDefaults' | 'shippedBlock';

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
  /** Types a definition against this worker's context and codes, and adds the field `change` where it has changes. */
  defineFunction<Request extends z.ZodType, Response extends z.ZodType, const Id extends string>(
    def: FunctionDef<Context, Request, Response, keyof Table & string, Id>,
  ): FunctionDef<Context, Request, Response, keyof Table & string, Id>;
  /**
   * Keeps the type of each function, from which TypeScript callers know requests and responses. `const` infers a tuple:
   * for an array the compiler compares every function with every other, which took a third of its time.
   */
  withFunctions<const Given extends readonly FunctionDef<Context>[]>(
    functions: Given,
  ): WorkerDef<Config, Table, Context, Given[number]>;
}

/** A worker of any configuration, codes and context: for lists, and for code that only runs it. */
export type AnyWorker = Omit<WorkerDef, 'errors' | 'defineFunction' | 'withFunctions'> & {
  readonly errors: { readonly table: ErrorTable };
};

/**
 * Defines a worker, to be served by `serve` of a connection.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { connect } from 'workcell/client';
 * import { defineErrors, defineWorker, parseConfig, silentLog } from 'workcell/contract';
 * import { z } from 'zod';
 *
 * const errors = defineErrors({
 *   full: { meaning: 'No more notes fit.', http: 507, message: ({ limit }) => `there are ${limit} notes already` },
 *   bad_input: { meaning: 'The request is invalid.', http: 400, message: ({ problem }) => problem },
 *   internal: { meaning: 'A bug.', http: 500, message: ({ callId }) => `the log has call ${callId}` },
 *   late: { meaning: 'The deadline passed.', http: 504, message: ({ ms }) => `not done after ${ms} ms` },
 * });
 * const worker = defineWorker({
 *   name: 'notes',
 *   summary: 'Stores notes.',
 *   config: z.strictObject({ limit: z.int().default(100) }),
 *   errors,
 *   failures: {
 *     badInput: (problem) => errors.fail('bad_input', { problem }),
 *     internal: (callId) => errors.fail('internal', { callId }),
 *     deadline: (ms) => errors.fail('late', { ms }),
 *   },
 *   open: ({ limit }) => ({ limit, notes: [] }),
 * });
 * const add = worker.defineFunction({
 *   id: 'notes::add',
 *   summary: 'Adds a note.',
 *   effect: 'write',
 *   permissions: [],
 *   request: z.object({ text: z.string().describe('Message to the author.') }),
 *   response: z.object({ count: z.int() }),
 *   errors: ['full'],
 *   examples: [{ text: 'off by one' }],
 *   handle({ text }, { limit, notes }) {
 *     if (notes.length === limit) throw errors.fail('full', { limit });
 *     return { count: notes.push(text) };
 *   },
 * });
 * const def = worker.withFunctions([add]);
 *
 * // Stands for `workcell start`; its URL is then ws://127.0.0.1:49134.
 * const cell = await createWorkcell({ workspace: '.', port: 0, workers: [{ name: 'coder' }] });
 *
 * const bus = await connect(cell.url, { name: def.name });
 * bus.serve({ def, context: await def.open(parseConfig(def.config, { limit: 1 }, 'notes'), silentLog) });
 * console.log((await bus.call('notes::add', { text: 'unused' })).count); // 1
 * const error = await bus.call('notes::add', { text: 'unused' }).catch((thrown) => thrown);
 * console.log(error.code, error.message); // full there are 1 notes already
 * bus.close();
 * await cell.close();
 * ```
 */
export function defineWorker<Config extends z.ZodType, Table extends ErrorTable, Context>(
  spec: WorkerSpec<Config, Table, Context>,
): WorkerDef<Config, Table, Context> {
  return {
    translate: () => undefined,
    spell: (failure) => handlerFailure(failure.toFields()),
    prepare: async () => {},
    metrics: () => [],
    close: () => {},
    workspaceDefaults: () => ({}),
    shippedBlock: {},
    ...spec,
    open: (config, log, cell = shippedCell) => spec.open(config, log, cell),
    functions: [],
    defineFunction: (def) =>
      spec.changes
        ? {
            ...def,
            ...(spec.changes.named === 'field' && { request: withChangeField(def.request) }),
            errors: [...def.errors, spec.changes.code],
          }
        : def,
    withFunctions(functions) {
      return { ...this, functions };
    },
  };
}
