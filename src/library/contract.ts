/** `workcell/contract`: the definitions for workers and surfaces outside this repository. */
export {
  announce,
  answer,
  CallControl,
  CallError,
  carrying,
  ConfigError,
  defineErrors,
  defineWorker,
  Failure,
  isFailedResult,
  makePrincipal,
  parseConfig,
  readCatalogue,
  silentLog,
  throughDoor,
  withContent,
  type Announcement,
  type AnyWorker,
  type Bus,
  type CallEvent,
  type CallOptions,
  type CallScope,
  type CatalogueEntry,
  type CellConfig,
  type ChannelPair,
  type Door,
  type Effect,
  type ErrorRow,
  type Errors,
  type ErrorSummary,
  type ErrorTable,
  type FunctionDef,
  type FunctionMetadata,
  type Grants,
  type IncomingCall,
  type JsonSchema,
  type Log,
  type LogFields,
  type OpenWorker,
  type Policy,
  type Principal,
  type Reply,
  type Risk,
  type WorkerDef,
  type WorkerSpec,
} from '#contract';

/**
 * Scalars of the iii bus, for schemas that state the width of a number.
 *
 * @example
 * ```js
 * import { wire } from 'workcell/contract';
 * import { z } from 'zod';
 *
 * const request = z.object({ limit: wire.uint32().default(10) });
 * console.log(request.parse({}).limit, request.safeParse({ limit: -1 }).success); // 10 false
 * ```
 */
export { wire } from '#contract';
