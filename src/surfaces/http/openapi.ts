/** The catalogue as OpenAPI 3.1: one POST per function. */
import type { CatalogueEntry, ErrorSummary, JsonSchema } from '#contract';
import { toToolName, toUrlPath } from '#protocol';
import { withInlineContent } from './content-schema.ts';

export function openApiDocument(catalogue: CatalogueEntry[], version: string): JsonSchema {
  const schemas: Record<string, unknown> = {
    Failure: {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string' },
            message: { type: 'string' },
            fix: { type: 'object', description: 'The next request, ready to send.' },
          },
        },
      },
    },
  };
  const names = new Set<string>();
  const paths = Object.fromEntries(
    catalogue
      .filter((entry) => entry.namespace === 'default')
      .map((entry) => [
        `/functions/${toUrlPath(entry.id)}`,
        { post: operation(entry, freeName(entry.id, names), schemas) },
      ]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Workcell', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{}, { token: [] }],
  };
}

const EVENT_STREAM_SCHEMA = { type: 'string', description: '`progress` events, then `result` or `error`.' };

/** Ids that differ only in punctuation get a number. */
function freeName(id: string, taken: Set<string>): string {
  const plain = toToolName(id);
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
  taken.add(name);
  return name;
}

function operation(entry: CatalogueEntry, name: string, schemas: Record<string, unknown>): JsonSchema {
  return {
    operationId: name,
    summary: entry.summary,
    ...(entry.details ? { description: entry.details } : {}),
    tags: [entry.worker],
    requestBody: {
      content: { 'application/json': { schema: hoist(entry.request, `${name}.request`, schemas), ...examples(entry) } },
    },
    responses: {
      '200': {
        description: 'The result.',
        content: {
          'application/json': { schema: hoist(withInlineContent(entry.response), `${name}.response`, schemas) },
          ...(entry.events && { 'text/event-stream': { schema: EVENT_STREAM_SCHEMA } }),
        },
      },
      ...failures(entry),
    },
  };
}

function examples(entry: CatalogueEntry): JsonSchema {
  return entry.examples.length === 0 ? {} : { example: entry.examples[0] };
}

/** Failures by status, each naming its codes. */
function failures(entry: CatalogueEntry): JsonSchema {
  const byStatus = new Map<number, ErrorSummary[]>();
  // Below 400 a failure is a result, and described as one.
  for (const error of entry.errors.filter(({ http }) => http >= 400))
    byStatus.set(error.http, [...(byStatus.get(error.http) ?? []), error]);
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } };
  const described = [...byStatus].map(([status, errors]): [string, JsonSchema] => {
    const description = errors.map(({ code, meaning }) => `${code}: ${meaning}`).join('\n');
    return [String(status), { description, content }];
  });
  return { ...Object.fromEntries(described), default: { description: 'Any other failure.', content } };
}

/** Deeper than any hand-written schema; deeper ones of foreign workers are cut. */
const DEEPEST = 100;

/** Moves a schema's definitions to the document's components, so that its references resolve. */
function hoist(schema: JsonSchema | undefined, prefix: string, schemas: Record<string, unknown>): JsonSchema {
  if (!schema) return {};
  const { definitions, $defs, $schema: _, ...rest } = schema;
  const named = Object.entries({ ...(definitions as object), ...($defs as object) });
  const components = Object.fromEntries(
    named.map(([name, definition]) => [componentName(prefix, name), redirect(definition, prefix, 0)]),
  );
  const whole = redirect(rest, prefix, 0) as JsonSchema;
  Object.assign(schemas, components);
  const own = `#/components/schemas/${prefix}`;
  const isRecursive = [`"${own}"`, `"${own}/`].some((part) => JSON.stringify([whole, components]).includes(part));
  if (!isRecursive) return whole;

  schemas[prefix] = whole;
  return { $ref: own };
}

function redirect(value: unknown, prefix: string, depth: number): unknown {
  if (depth > DEEPEST) return {};
  if (Array.isArray(value)) return value.map((item) => redirect(item, prefix, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isReference = key === '$ref' && typeof inner === 'string';
      return [key, isReference ? inDocument(inner, prefix) : redirect(inner, prefix, depth + 1)];
    }),
  );
}

/** Rewrites a reference within a schema to one within the document; others stay. */
function inDocument(reference: string, prefix: string): string {
  if (!reference.startsWith('#')) return reference;
  const [, name] = /^#\/(?:definitions|\$defs)\/([^/]+)$/.exec(reference) ?? [];
  const target = name === undefined ? prefix + reference.slice(1) : componentName(prefix, decodePointer(name));
  return `#/components/schemas/${target}`;
}

function componentName(prefix: string, name: string): string {
  return `${prefix}.${name}`.replaceAll(/[^A-Za-z0-9._-]/g, '_');
}

function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}
