/**
 * A result as text for a model: short fields on one line each, long text verbatim, uniform rows as a table.
 *
 * JSON would escape every line break of a file and repeat every field name in every row; here a file reads like a file.
 */
import { isMap } from '../schema/is-map.ts';

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

/** A longer text comes after all short fields, or it would hide them. */
const MAX_LINE_CHARS = 1000;

/** Most text in one reply that leaves a model room for the conversation. */
const MAX_TEXT_CHARS = 32 * 1024;

/** The text, or its beginning with a last line that says where it was truncated. */
export function boundedText(text: string): { text: string; cutAtByte?: number } {
  if (text.length <= MAX_TEXT_CHARS) return { text };

  const head = text.slice(0, MAX_TEXT_CHARS).replace(/[\uD800-\uDBFF]$/, '');
  const cutAtByte = Buffer.byteLength(head);
  return { text: `${head}\n… cut after ${cutAtByte} of ${Buffer.byteLength(text)} bytes`, cutAtByte };
}

function block(key: string, field: unknown): string {
  if (Array.isArray(field)) return list(key, field);
  return isMap(field) ? `${key}:\n${renderText(field)}` : `${key}:\n${String(field)}`;
}

function list(key: string, items: readonly unknown[]): string {
  const columns = columnsOf(items);
  if (!columns) return [`${key}: ${items.length}`, ...items.map((item) => listItem(item))].join('\n');

  const rows = items.map((item) => columns.map((column) => onOneLine((item as Record<string, unknown>)[column])));
  const head = `${key}: ${items.length}, as ${columns.join(' | ')}`;
  return [head, ...rows.map((row) => row.join(' | '))].join('\n');
}

/** The fields that every row has in the same order, if all are single lines. */
function columnsOf(items: readonly unknown[]): string[] | undefined {
  const [first] = items;
  if (items.length < 2 || !isMap(first)) return undefined;
  const columns = Object.keys(first);
  const isRow = (item: unknown) =>
    isMap(item) &&
    Object.keys(item).join('\0') === columns.join('\0') &&
    Object.values(item).every((field) => (typeof field === 'string' ? !field.includes('\n') : !isNested(field)));
  return items.every(isRow) ? columns : undefined;
}

function listItem(item: unknown): string {
  if (!isMap(item) || !Object.values(item).some(isLong)) return `- ${onOneLine(item)}`;
  return `- ${renderText(item).replaceAll('\n', '\n  ')}`;
}

function isLong(field: unknown): boolean {
  if (typeof field === 'string') return field.includes('\n') || field.length > MAX_LINE_CHARS;
  if (Array.isArray(field)) return field.some(isNested);
  return isMap(field) && Object.values(field).some(isLong);
}

function isNested(field: unknown): boolean {
  return typeof field === 'object' && field !== null;
}

function onOneLine(field: unknown): string {
  return typeof field === 'string' ? field : JSON.stringify(field);
}
