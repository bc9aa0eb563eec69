/** A failure as text for a model: code and reason, then details, then the next step. */
import type { CallError } from '../bus.ts';
import { isMap } from '../schema/is-map.ts';
import { renderText } from './result-text.ts';

/** Fields for programs: a model has the code, and no use for a documentation URL. */
const FOR_PROGRAMS = new Set(['docs_url', 'type', 'retryable']);

/** A longer request field is not repeated to its sender. */
const MOST_REPEATED_CHARS = 300;

type FailureParts = Pick<CallError, 'code' | 'message' | 'extra'>;

/** `request` is the request of the model, if known. */
export function failureText({ code, message, extra }: FailureParts, request?: unknown): string {
  const { fix, fix_note, retryable, ...rest } = extra;
  const more = Object.fromEntries(Object.entries(rest).filter(([key]) => !FOR_PROGRAMS.has(key)));
  const lines = [
    `${code}: ${message}`,
    Object.keys(more).length > 0 && renderText(more),
    retryable === true && 'The same call may succeed later.',
    fix !== undefined && fix !== null && fixText(fix, request),
    typeof fix_note === 'string' && fix_note,
  ];
  return lines.filter((line) => line !== false && line !== '').join('\n');
}

function fixText(fix: unknown, request: unknown): string {
  const fields = isMap(fix) && isMap(request) ? Object.entries(fix) : [];
  const repeated = fields.filter(([key, value]) => isRepeated(value, (request as Record<string, unknown>)[key]));
  if (repeated.length === 0) return `fix, the next request, ready to send: ${JSON.stringify(fix)}`;

  const shown = Object.fromEntries(fields.filter((field) => !repeated.includes(field)));
  return `fix, the next request: ${JSON.stringify(shown)}, with ${repeated.map(([key]) => key).join(', ')} as sent before`;
}

function isRepeated(value: unknown, sent: unknown): boolean {
  const text = String(JSON.stringify(value));
  return text.length > MOST_REPEATED_CHARS && text === JSON.stringify(sent);
}

/** A failure that came as a result: `{success: false, error, metadata: {code, …}}`. */
export function failedResultText(value: Record<string, unknown>, request?: unknown): string {
  const { code, ...extra } = isMap(value.metadata) ? value.metadata : {};
  const message = typeof value.error === 'string' ? value.error : 'the call failed';
  return failureText({ code: typeof code === 'string' ? code : 'failed', message, extra }, request);
}

export interface ItemFailures {
  text: string;
  areAll: boolean;
}

/** The failed items of a batch, listed first; undefined when none failed. */
export function itemFailures(value: unknown, list: string): ItemFailures | undefined {
  const items = isMap(value) && Array.isArray(value[list]) ? (value[list] as unknown[]) : [];
  const failed = items.filter((item) => isMap(item) && item.success === false) as Record<string, unknown>[];
  if (failed.length === 0) return undefined;

  const lines = failed.map((item) => `- ${nameOf(item)}: ${errorText(item.error).replaceAll('\n', '\n  ')}`);
  return {
    text: [`FAILED: ${failed.length} of ${items.length}`, ...lines].join('\n'),
    areAll: failed.length === items.length,
  };
}

function nameOf({ path }: Record<string, unknown>): string {
  return typeof path === 'string' ? path : 'item';
}

/** An item's error is its failure as JSON, or plain text. */
function errorText(error: unknown): string {
  const fields = typeof error === 'string' ? parsed(error) : error;
  if (!isMap(fields) || typeof fields.code !== 'string') return String(error);
  const { code, message, ...extra } = fields;
  return failureText({ code, message: String(message), extra });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
