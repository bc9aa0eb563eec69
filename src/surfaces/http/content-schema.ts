/** The schema of a reply over HTTP: content that uses a channel on the bus is in the reply itself. */
import type { JsonSchema } from '#contract';

/** Returns the same schema if it has no such content. */
export function withInlineContent(schema: JsonSchema | undefined): JsonSchema | undefined {
  const properties = schema?.properties as Record<string, JsonSchema> | undefined;
  if (!schema || !properties?.content || !properties.size || !isChannel(properties.content, schema)) return schema;
  return {
    ...schema,
    properties: {
      ...properties,
      content: { type: 'string', description: 'The file, in the encoding that `encoding` names.' },
      encoding: { type: 'string', enum: ['utf-8', 'base64'] },
    },
  };
}

function isChannel(field: JsonSchema, { definitions }: JsonSchema): boolean {
  const [only] = (field.allOf ?? [field]) as JsonSchema[];
  const name = typeof only?.$ref === 'string' ? only.$ref.replace('#/definitions/', '') : '';
  const definition = (definitions as Record<string, JsonSchema> | undefined)?.[name] ?? field;
  const properties = (definition.properties ?? {}) as Record<string, unknown>;
  return 'channel_id' in properties && 'access_key' in properties;
}
