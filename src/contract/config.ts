/** Worker configuration: parsed once from plain data; an unknown key gets a suggestion. */
import type { z } from 'zod';

import { didYouMean } from './nearest.ts';
import { describeIssues } from './schema/issue-text.ts';
import { requestSchema, type JsonSchema } from './schema/json-schema.ts';

/**
 * A configuration that the operator has to change; the message names the key.
 *
 * @example
 * ```js
 * import { ConfigError, createWorkcell } from 'workcell';
 *
 * try {
 *   await createWorkcell({ workspace: '.', workers: [{ name: 'coder', config: { max_red_bytes: 10 } }] });
 * } catch (error) {
 *   console.log(error instanceof ConfigError); // true
 *   console.log(error.message.split(';')[0]); // workers.coder: unknown key "max_red_bytes" (did you mean "max_read_bytes"?)
 * }
 * ```
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Code for programs, if an error has one, such as `workspace_not_writable`. */
  readonly code: string | undefined;

  constructor(message: string, { code, ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Parses one block. `where` names it in messages, e.g. `workers.coder`.
 *
 * @example
 * ```js
 * import { parseConfig } from 'workcell/contract';
 * import { z } from 'zod';
 *
 * const config = z.strictObject({ limit: z.int().default(100) });
 * console.log(parseConfig(config, undefined, 'workers.notes').limit); // 100
 * try {
 *   parseConfig(config, { limt: 5 }, 'workers.notes');
 * } catch (error) {
 *   console.log(error.message); // workers.notes: unknown key "limt" (did you mean "limit"?); known keys: limit
 * }
 * ```
 */
export function parseConfig<Config extends z.ZodType>(schema: Config, block: unknown, where: string): z.output<Config> {
  const data = block ?? {};
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;

  const unknown = parsed.error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') throw new ConfigError(describeUnknownKey(unknown, schema, where));
  throw new ConfigError(`${where}: ${describeIssues(parsed.error, data)}`);
}

export interface ConfigKey {
  key: string;
  description: string;
  default: unknown;
}

/** The keys of a block in declaration order, with their descriptions. */
export function configKeys(schema: z.ZodType): ConfigKey[] {
  const properties = propertiesOf(requestSchema(schema, ''));
  return Object.entries(properties).map(([key, property]) => ({
    key,
    description: typeof property.description === 'string' ? property.description : '',
    default: property.default,
  }));
}

function describeUnknownKey(
  issue: { keys: string[]; path: readonly PropertyKey[] },
  schema: z.ZodType,
  where: string,
): string {
  const [key = ''] = issue.keys;
  const known = Object.keys(propertiesAt(requestSchema(schema, ''), issue.path));
  const path = [where, ...issue.path.map(String)].join('.');
  return `${path}: unknown key "${key}"${didYouMean(key, known)}; known keys: ${known.join(', ')}`;
}

function propertiesAt(schema: JsonSchema, path: readonly PropertyKey[]): Record<string, JsonSchema> {
  const at = path.reduce<JsonSchema>((inner, key) => {
    if (typeof key === 'number') return (inner.items ?? {}) as JsonSchema;
    return propertiesOf(inner)[String(key)] ?? {};
  }, schema);
  return propertiesOf(at);
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema.properties ?? {}) as Record<string, JsonSchema>;
}
