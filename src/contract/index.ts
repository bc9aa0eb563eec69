/** Definitions of function, worker, failure and catalogue entry. Pure: no I/O. */
export {
  SubjectSchema,
  type AccessControl,
  type Audit,
  type AuditedCall,
  type CalledFunction,
  type Decision,
  type Subject,
  type Verdict,
} from './access.ts';
export { answer, type OpenWorker, type Reply } from './answer.ts';
export { CallControl } from './answering/call-control.ts';
export {
  CallError,
  carrying,
  type Bus,
  type Approval,
  type CallEvent,
  type CallOptions,
  type ChannelPair,
} from './bus.ts';
export type { CallScope, IncomingCall } from './call-scope.ts';
export {
  announce,
  isFailedResult,
  readCatalogue,
  saysFailed,
  summariseErrors,
  type Announcement,
  type CatalogueEntry,
  type ErrorSummary,
  type FunctionMetadata,
} from './catalogue.ts';
export { cellConfig, shippedCell, type CellConfig, type JournalConfig } from './cell-config.ts';
export { cleanText } from './clean-text.ts';
export { SCOPES, type Scope } from './cluster/scope.ts';
export { ConfigError, configKeys, parseConfig } from './config.ts';
export { defineErrors, Failure, type Errors, type ErrorRow, type ErrorTable } from './define-errors.ts';
export { RISKS, type Effect, type FunctionDef, type Policy, type Risk } from './define-function.ts';
export { defineWorker, type AnyWorker, type WorkerDef, type WorkerSpec } from './define-worker.ts';
export { throughDoor, type Door } from './doors/door.ts';
export { eventText } from './doors/event-text.ts';
export { failedResultText, failureText, itemFailures } from './doors/failure-text.ts';
export { boundedText, renderText } from './doors/result-text.ts';
export { imageTypeOf, MAX_IMAGE_BYTES } from './doors/image-type.ts';
export {
  SandboxReportSchema,
  type Fleet,
  type FleetHost,
  type FleetNode,
  type SandboxReport,
} from './cluster/fleet.ts';
export { isMap } from './schema/is-map.ts';
export type { JsonSchema } from './schema/json-schema.ts';
export { silentLog, type Log, type LogFields } from './log.ts';
export { boundTo, CHANGE_HEADER } from './change-field.ts';
export {
  byState,
  counter,
  gauge,
  joinMetrics,
  MetricSchema,
  type Metric,
  type MetricSample,
  type ReadMetrics,
} from './metrics.ts';
export type { CallSpan, SpanEnd, Telemetry, TracedCall } from './telemetry.ts';
export { didYouMean, nearestName } from './nearest.ts';
export { hasTooManyValues } from './schema/payload-size.ts';
export {
  callerKey,
  callerRef,
  CallerRefSchema,
  makePrincipal,
  withClient,
  type Denial,
  type Grants,
  type Principal,
} from './principal.ts';
export { COMMAND_NOTES, CUT_NOTES, fieldOf, lineReader, noteOf, ReadsSchema, type Reads } from './reads.ts';
export { asText, takeContent, withContent, type TakenContent } from './doors/take-content.ts';
export { isWatchId, Watched, watchEventsFunction, watchFunction, type WorkerEvent } from './watched.ts';
export { fixRequest } from './doors/fix-request.ts';
export * as wire from './schema/wire.ts';
