/** `workcell`: runs a Workcell inside a program. */
export { CallError, ConfigError, type CallEvent, type CallOptions, type CatalogueEntry, type Log } from '#contract';
export type { CallStream } from '#client';
export { createWorkcell, type CreateWorkcellOptions, type Workcell } from './create-workcell.ts';
export type {
  FunctionId,
  FunctionMap,
  FunctionsOf,
  FunctionTypes,
  OwnWorker,
  RequestOf,
  ResponseOf,
  TypedBus,
  WorkerChoice,
} from './function-types.ts';
