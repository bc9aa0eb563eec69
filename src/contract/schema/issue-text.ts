/** Describes a payload that does not fit its schema: the field, its value, and the accepted values. */
import type { z } from 'zod';

const MOST_ISSUES = 3;
const MOST_QUOTED = 100;

type Issue = z.core.$ZodIssue;

/** The first few problems of a payload in one sentence. */
export function describeIssues(error: z.ZodError, payload: unknown): string {
  const lines = error.issues.slice(0, MOST_ISSUES).map((issue) => describeIssue(issue, payload));
  const more = error.issues.length - lines.length;
  return lines.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function describeIssue(issue: Issue, payload: unknown): string {
  const field = spellPath(issue.path);
  const value = valueAt(payload, issue.path);
  if (value === undefined && field !== '') return `missing field \`${field}\``;

  const name = field === '' ? 'the payload' : `\`${field}\``;
  switch (issue.code) {
    case 'invalid_type':
      return `${name} must be ${withArticle(issue.expected)} (got ${kindOf(value)})`;
    case 'invalid_value':
      return `${name} must be one of ${issue.values.map((v) => JSON.stringify(v)).join(', ')} (got ${quote(value)})`;
    case 'invalid_union':
      return describeUnion(issue, name, value);
    case 'too_small':
      return `${name} must be at least ${issue.minimum} (got ${show(value)})`;
    case 'too_big':
      return `${name} must be at most ${issue.maximum} (got ${show(value)})`;
    default:
      return `${name}: ${issue.message}`;
  }
}

function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>, name: string, value: unknown): string {
  if (issue.discriminator) return `${name}: ${issue.message} (got ${show(value)})`;
  return `${name} has none of the accepted shapes (got ${kindOf(value)})`;
}

function spellPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

function valueAt(payload: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    payload,
  );
}

function withArticle(expected: string): string {
  const word = expected === 'int' ? 'integer' : expected;
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return withArticle(typeof value);
}

/** The value that was sent, if short enough to repeat. */
function quote(value: unknown): string {
  const isShort = typeof value === 'string' ? value.length <= MOST_QUOTED : typeof value !== 'object';
  return isShort ? JSON.stringify(value) : kindOf(value);
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value);
}
