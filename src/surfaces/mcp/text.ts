/**
 * A result as text for a model: what is short on one line each, long text as it stands.
 *
 * JSON would escape every line break of a file; here a file reads like a file.
 */
export function renderText(value: unknown): string {
  if (!isMap(value)) return typeof value === 'string' ? value : JSON.stringify(value ?? null);

  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  const short = fields.filter(([, field]) => !isLong(field));
  const long = fields.filter(([, field]) => isLong(field));
  return [
    ...short.map(([key, field]) => `${key}: ${onOneLine(field)}`),
    ...long.map(([key, field]) => block(key, field)),
  ].join('\n');
}

/** What a model can take in one reply without losing the rest of the conversation. */
const MAX_TEXT_CHARS = 32 * 1024;

/** The text, or its beginning with a last line that says where it was cut. */
export function boundedText(text: string): { text: string; cutAtByte?: number } {
  if (text.length <= MAX_TEXT_CHARS) return { text };

  const head = text.slice(0, MAX_TEXT_CHARS).replace(/[\uD800-\uDBFF]$/, '');
  const cutAtByte = Buffer.byteLength(head);
  return { text: `${head}\n… cut after ${cutAtByte} of ${Buffer.byteLength(text)} bytes`, cutAtByte };
}

function block(key: string, field: unknown): string {
  if (!Array.isArray(field)) return `${key}:\n${String(field)}`;
  return [`${key}: ${field.length}`, ...field.map((item) => `- ${onOneLine(item)}`)].join('\n');
}

function isLong(field: unknown): boolean {
  if (typeof field === 'string') return field.includes('\n');
  return Array.isArray(field) && field.some((item) => typeof item === 'object');
}

function onOneLine(field: unknown): string {
  return typeof field === 'string' ? field : JSON.stringify(field);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
