/** The reference, made from the catalogue: a page per worker, and one for every error code. */
import type { CatalogueEntry, ErrorSummary, JsonSchema } from '#contract';
import { toUrlPath } from '#protocol';
import { code, type Block, type Page } from './blocks.ts';
import { policyRows } from './policy-text.ts';
import { namedShapes, schemaFields } from './schema-fields.ts';

const ERRORS_SLUG = 'errors';

export interface KnownErrors {
  /** Codes that any call may fail with. */
  busErrors: readonly ErrorSummary[];
  /** Codes of every worker of this build: links to them work even if the worker does not run. */
  workerErrors: readonly WorkerErrors[];
}

export interface WorkerErrors {
  worker: string;
  errors: readonly ErrorSummary[];
}

/** Pages in the order they are linked. */
export function referencePages(catalogue: CatalogueEntry[], known: KnownErrors): Page[] {
  const workers = [...new Set(catalogue.map((entry) => entry.worker))].toSorted();
  return [
    ...workers.map((worker) =>
      workerPage(
        worker,
        catalogue.filter((entry) => entry.worker === worker),
      ),
    ),
    errorsPage(catalogue, known),
  ];
}

function workerPage(worker: string, entries: CatalogueEntry[]): Page {
  const overview: Block = {
    kind: 'table',
    head: ['Function', 'Effect', 'What it does'],
    rows: entries.map((entry) => [code(entry.id), entry.effect ?? '', entry.summary]),
  };
  return {
    slug: slugOf(worker),
    title: worker,
    blocks: [{ kind: 'heading', level: 1, text: worker }, overview, ...entries.flatMap(functionBlocks)],
  };
}

/** Error messages link to the errors page, so no worker may use its name. */
function slugOf(worker: string): string {
  if (worker === ERRORS_SLUG) return `${worker}-worker`;
  // Replaces half of a surrogate pair, which cannot be in a URL: each page with a link to it would fail.
  return worker.replace(/\p{Surrogate}/gu, '\u{fffd}');
}

function functionBlocks(entry: CatalogueEntry): Block[] {
  return [
    { kind: 'heading', level: 2, text: code(entry.id), anchor: entry.id },
    { kind: 'text', text: entry.details ? `${entry.summary} ${entry.details}` : entry.summary },
    { kind: 'text', text: `${code(`POST /functions/${toUrlPath(entry.id)}`)} · ${code(`workcell call ${entry.id}`)}` },
    ...policyBlocks(entry),
    ...schemaBlocks('Request', entry.request, { isRequest: true }),
    ...schemaBlocks('Response', entry.response, { isRequest: false }),
    ...(entry.events ? schemaBlocks('Events', entry.events, { isRequest: false }) : []),
    ...errorBlocks(entry.errors),
    ...entry.examples.slice(0, 1).flatMap(exampleBlocks),
  ];
}

function policyBlocks(entry: CatalogueEntry): Block[] {
  const rows = policyRows(entry).map(([label, values]) => `${label}: ${values.map(code).join(', ')}`);
  return rows.length === 0 ? [] : [{ kind: 'text', text: `${rows.join('. ')}.` }];
}

/** The fields of a schema and of every shape that it names. */
function schemaBlocks(title: string, schema: JsonSchema | undefined, side: { isRequest: boolean }): Block[] {
  const named = namedShapes(schema).flatMap(({ name, shape }) => fieldBlocks(name, shape, side));
  return [...fieldBlocks(title, schema, side), ...named];
}

function fieldBlocks(title: string, schema: JsonSchema | undefined, { isRequest }: { isRequest: boolean }): Block[] {
  const fields = schemaFields(schema);
  if (fields.length === 0) return [];
  const head = isRequest ? ['Field', 'Type', 'Default', 'Meaning'] : ['Field', 'Type', 'Meaning'];
  const rows = fields.map((field) => {
    const fallback = field.isRequired ? 'required' : field.default === undefined ? '' : code(field.default);
    const always = field.isRequired || isRequest ? '' : ' (may be absent)';
    const name = code(field.name);
    return isRequest ? [name, field.type, fallback, field.description] : [name, field.type + always, field.description];
  });
  return [
    { kind: 'heading', level: 3, text: title },
    { kind: 'table', head, rows },
  ];
}

function errorBlocks(errors: ErrorSummary[]): Block[] {
  if (errors.length === 0) return [];
  const rows = errors.map((error) => [code(error.code), String(error.http), error.meaning]);
  return [
    { kind: 'heading', level: 3, text: 'Errors' },
    { kind: 'table', head: ['Code', 'HTTP', 'Meaning'], rows },
  ];
}

function exampleBlocks(example: unknown): Block[] {
  return [
    { kind: 'heading', level: 3, text: 'Example request' },
    { kind: 'code', language: 'json', text: JSON.stringify(example, null, 2) },
  ];
}

/** A code of one worker: another may use the same one for different things. */
interface Reading {
  error: ErrorSummary;
  functions: string[];
  /** The worker of the code, if no function declares it. */
  workers: string[];
}

function errorsPage(catalogue: CatalogueEntry[], { busErrors, workerErrors }: KnownErrors): Page {
  const readings = new Map<string, Reading>();
  const readingOf = (error: ErrorSummary): Reading => {
    const key = JSON.stringify([error.code, error.meaning, error.http, error.retryable]);
    const reading = readings.get(key) ?? { error, functions: [], workers: [] };
    readings.set(key, reading);
    return reading;
  };
  for (const error of busErrors) readingOf(error);
  for (const entry of catalogue) for (const error of entry.errors) readingOf(error).functions.push(entry.id);
  for (const { worker, errors } of workerErrors) for (const error of errors) readingOf(error).workers.push(worker);
  const names = [...new Set([...readings.values()].map(({ error }) => error.code))].toSorted();
  const all = (name: string) => [...readings.values()].filter(({ error }) => error.code === name);
  return {
    slug: ERRORS_SLUG,
    title: 'Errors',
    blocks: [
      { kind: 'heading', level: 1, text: 'Errors' },
      {
        kind: 'text',
        text: 'Every failure carries a code. A `fix`, where there is one, is the next request, ready to send.',
      },
      ...names.flatMap((name): Block[] => [
        { kind: 'heading', level: 2, text: code(name), anchor: name },
        ...all(name).flatMap(readingBlocks),
      ]),
    ],
  };
}

function readingBlocks({ error, functions, workers }: Reading): Block[] {
  const retry = error.retryable ? ' The same request may succeed later.' : '';
  const unnamed = workers.length === 0 ? 'Any call.' : `the worker ${workers.map(code).join(', ')}`;
  const from = functions.length === 0 ? unnamed : functions.map(code).join(', ');
  return [
    { kind: 'text', text: `${error.meaning}${retry} HTTP ${error.http}.` },
    { kind: 'text', text: `Answered by: ${from}` },
  ];
}
