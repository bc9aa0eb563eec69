/** Reads untrusted values: an unexpected value counts as absent. */

export type JsonSchema = Record<string, unknown>;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

export function textOf(value: unknown, name: string): string | undefined {
  const found = fieldOf(value, name);
  return typeof found === 'string' ? found : undefined;
}
