/**
 * A function as published: JSON Schema and metadata, never zod.
 *
 * Surfaces read only this, so a function of a worker in another language looks the same.
 */
import { z } from 'zod';

import { SubjectSchema } from './access.ts';
import type { Bus } from './bus.ts';
import { SCOPES } from './cluster/scope.ts';
import { RISKS, type FunctionDef } from './define-function.ts';
import type { AnyWorker } from './define-worker.ts';
import { ReadsSchema, type Reads } from './reads.ts';
import { requestSchema, responseSchema, type JsonSchema } from './schema/json-schema.ts';

/** Metadata that a worker publishes about one of its functions. */
export interface Announcement {
  id: string;
  description: string;
  request_format: JsonSchema;
  response_format: JsonSchema;
  metadata: FunctionMetadata;
}

const ErrorSummarySchema = z.object({
  code: z.string(),
  meaning: z.string().default(''),
  http: z.int().min(200).max(599).default(500),
  retryable: z.boolean().default(false),
});
export type ErrorSummary = z.infer<typeof ErrorSummarySchema>;

/** Foreign workers put anything into metadata: an invalid field counts as absent. */
const FunctionMetadataSchema = z.object({
  effect: z.enum(['read', 'write', 'delete', 'execute']).optional().catch(undefined),
  details: z.string().optional().catch(undefined),
  errors: z.array(ErrorSummarySchema).default([]).catch([]),
  examples: z.array(z.unknown()).default([]).catch([]),
  permissions: z.array(z.string()).optional().catch(undefined),
  /** Fields with the subject of a call; without it, rules over paths and programs do not match. */
  subject: SubjectSchema.optional().catch(undefined),
  risk: z.enum(RISKS).optional().catch(undefined),
  side_effects: z.array(z.string()).optional().catch(undefined),
  constraints: z.array(z.string()).optional().catch(undefined),
  /** A result with `success: false` is a failure. */
  fails_in_result: z.boolean().optional().catch(undefined),
  /** The list in the result whose items fail individually. */
  fails_in_items: z.string().optional().catch(undefined),
  /** Whether it can change or remove existing data. */
  destructive: z.boolean().optional().catch(undefined),
  idempotent: z.boolean().optional().catch(undefined),
  /** Omitted from lists unless they ask for it: made for a program of this product. */
  internal: z.boolean().optional().catch(undefined),
  workcell: z
    .object({ scope: z.enum(SCOPES) })
    .optional()
    .catch(undefined),
  /** Whether a reply to MCP or the CLI has a text beside it; such a description is for models and needs no example. */
  has_text: z.boolean().optional().catch(undefined),
  /** Whether a call with `{change}` in its metadata works in that change. */
  takes_change: z.boolean().optional().catch(undefined),
  /** Functions that it calls in its caller's name. */
  calls: z.array(z.string()).optional().catch(undefined),
  /** How its calls read in lists. */
  reads: ReadsSchema.optional().catch(undefined),
  /** JSON Schema of the events of a call. */
  events: z.record(z.string(), z.unknown()).optional().catch(undefined),
  /** Defaults for models. */
  model_defaults: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
export type FunctionMetadata = z.infer<typeof FunctionMetadataSchema>;

const schemaField = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => value ?? undefined)
  .catch(undefined);

const ListRowSchema = z.object({
  function_id: z.string(),
  namespace: z.string().default('default'),
  worker_name: z.string().default(''),
  description: z.string().nullish(),
  request_format: schemaField,
  response_format: schemaField,
  metadata: z.unknown().optional(),
});

export interface CatalogueEntry extends FunctionMetadata {
  id: string;
  namespace: string;
  worker: string;
  summary: string;
  request?: JsonSchema;
  response?: JsonSchema;
}

/**
 * The definition as its worker announces it: the schemas and metadata that callers see.
 *
 * @example
 * ```js
 * import { announce, defineErrors, defineWorker } from 'workcell/contract';
 * import { z } from 'zod';
 *
 * const errors = defineErrors({
 *   failed: { meaning: 'The call failed.', http: 500, message: ({ why }) => why },
 * });
 * const worker = defineWorker({
 *   name: 'notes',
 *   summary: 'Stores notes.',
 *   config: z.strictObject({}),
 *   errors,
 *   failures: {
 *     badInput: (problem) => errors.fail('failed', { why: problem }),
 *     internal: (callId) => errors.fail('failed', { why: `a bug; the log has call ${callId}` }),
 *     deadline: (ms) => errors.fail('failed', { why: `not done after ${ms} ms` }),
 *   },
 *   open: () => [],
 * });
 * const list = worker.defineFunction({
 *   id: 'notes::list',
 *   summary: 'Lists the notes.',
 *   effect: 'read',
 *   permissions: [],
 *   request: z.object({ limit: z.int().default(10).describe('Most notes returned.') }),
 *   response: z.object({ notes: z.array(z.string()) }),
 *   errors: ['failed'],
 *   examples: [{}],
 *   handle: ({ limit }, notes) => ({ notes: notes.slice(0, limit) }),
 * });
 *
 * const { request_format, metadata } = announce(worker, list);
 * console.log(request_format.properties.limit.description); // Most notes returned.
 * console.log(metadata.effect, metadata.idempotent); // read true
 * ```
 */
export function announce(
  worker: Pick<AnyWorker, 'errors' | 'failedResult' | 'changes'>,
  fn: FunctionDef<never>,
): Announcement {
  const name = fn.id
    .split(/::|[-_]/)
    .slice(1)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  return {
    id: fn.id,
    description: fn.summary,
    request_format: requestSchema(fn.request, `${name}Input`),
    response_format: responseSchema(fn.response, `${name}Output`),
    metadata: {
      effect: fn.effect,
      destructive: fn.isDestructive ?? fn.effect !== 'read',
      idempotent: fn.isIdempotent ?? fn.effect === 'read',
      details: fn.details,
      errors: summariseErrors(worker.errors).filter(({ code }) => fn.errors.includes(code)),
      examples: [...fn.examples],
      permissions: [...fn.permissions],
      ...(fn.subject && { subject: fn.subject }),
      ...(fn.policy && {
        risk: fn.policy.risk,
        side_effects: [...fn.policy.sideEffects],
        constraints: [...fn.policy.constraints],
      }),
      ...((fn.isWatch || fn.isInternal) && { internal: true }),
      ...(fn.scope && { workcell: { scope: fn.scope } }),
      ...(fn.events && { events: responseSchema(fn.events, `${name}Event`) }),
      ...(worker.failedResult && { fails_in_result: true }),
      ...(fn.failsInItems && { fails_in_items: fn.failsInItems }),
      ...(fn.text && { has_text: true }),
      ...(worker.changes && { takes_change: true }),
      ...(fn.reads && { reads: readsOf(fn.reads) }),
      ...(fn.calls && { calls: [...fn.calls] }),
      ...(fn.modelDefaults && { model_defaults: fn.modelDefaults }),
    },
  };
}

function readsOf({ line, notes }: Reads): FunctionMetadata['reads'] {
  return { line: [...line], ...(notes && { notes: [...notes] }) };
}

/**
 * Every function on the bus, sorted by id, or those whose id starts with `prefix`, or those of one namespace.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { readCatalogue } from 'workcell/client';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * const [entry] = await readCatalogue(cell, { prefix: 'coder::read-file' });
 * console.log(entry.worker, entry.effect, entry.request.required.join()); // coder read path
 * await cell.close();
 * ```
 */
export async function readCatalogue(
  bus: Bus,
  {
    includeInternal = false,
    prefix,
    namespace,
  }: { includeInternal?: boolean; prefix?: string; namespace?: string } = {},
): Promise<CatalogueEntry[]> {
  const reply = await bus.call('engine::functions::list', { include_internal: includeInternal, prefix, namespace });
  const { functions } = z.object({ functions: z.array(ListRowSchema) }).parse(reply);
  return functions.map(toEntry);
}

function toEntry(row: z.output<typeof ListRowSchema>): CatalogueEntry {
  const metadata = FunctionMetadataSchema.safeParse(row.metadata ?? {});
  return {
    id: row.function_id,
    namespace: row.namespace,
    worker: row.worker_name,
    summary: row.description ?? '',
    request: row.request_format,
    response: row.response_format,
    ...(metadata.success ? metadata.data : { errors: [], examples: [] }),
  };
}

/** A whole table of failures in published form. */
export function summariseErrors({ table }: AnyWorker['errors']): ErrorSummary[] {
  return Object.entries(table).map(([code, { meaning, http, retryable = false }]) => ({
    code,
    meaning,
    http,
    retryable,
  }));
}

/** Whether a result has `success: false`: a failure, if the function reports failures in its result. */
export function saysFailed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'success' in value && value.success === false;
}

/**
 * Whether this result is a failure of a function that reports failures in its result.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { isFailedResult, readCatalogue } from 'workcell/contract';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'filesystem' }] });
 * const [entry] = await readCatalogue(cell, { prefix: 'filesystem::read' });
 * const result = await cell.call(entry.id, { path: 'missing.md' });
 * console.log(isFailedResult(result, entry)); // true
 * await cell.close();
 * ```
 */
export function isFailedResult(value: unknown, entry: CatalogueEntry): boolean {
  return entry.fails_in_result === true && saysFailed(value);
}
