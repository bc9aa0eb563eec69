/** The catalogue as OpenAPI 3.1: one POST a function. */
import type { CatalogueEntry, ErrorSummary, JsonSchema } from '#contract';
import { toToolName, toUrlPath } from '#protocol';

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
            fix: { type: 'object', description: 'Fields to merge into the failed request.' },
          },
        },
      },
    },
  };
  const paths = Object.fromEntries(
    catalogue
      .filter((entry) => entry.namespace === 'default')
      .map((entry) => [`/functions/${toUrlPath(entry.id)}`, { post: operation(entry, schemas) }]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Workcell', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{}, { token: [] }],
  };
}

function operation(entry: CatalogueEntry, schemas: Record<string, unknown>): JsonSchema {
  const name = toToolName(entry.id);
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
        content: { 'application/json': { schema: hoist(entry.response, `${name}.response`, schemas) } },
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
  for (const error of entry.errors) byStatus.set(error.http, [...(byStatus.get(error.http) ?? []), error]);
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } };
  const described = [...byStatus].map(([status, errors]): [string, JsonSchema] => {
    const description = errors.map(({ code, meaning }) => `${code}: ${meaning}`).join('\n');
    return [String(status), { description, content }];
  });
  return { ...Object.fromEntries(described), default: { description: 'Any other failure.', content } };
}

/** Moves a schema's definitions to the document's components, where its references can find them. */
function hoist(schema: JsonSchema | undefined, prefix: string, schemas: Record<string, unknown>): JsonSchema {
  if (!schema) return {};
  const { definitions, $schema: _, ...rest } = schema;
  for (const [name, definition] of Object.entries((definitions ?? {}) as Record<string, JsonSchema>)) {
    schemas[`${prefix}.${name}`] = redirect(definition, prefix);
  }
  return redirect(rest, prefix) as JsonSchema;
}

function redirect(value: unknown, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((item) => redirect(item, prefix));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isReference = key === '$ref' && typeof inner === 'string';
      return [
        key,
        isReference ? inner.replace('#/definitions/', `#/components/schemas/${prefix}.`) : redirect(inner, prefix),
      ];
    }),
  );
}
