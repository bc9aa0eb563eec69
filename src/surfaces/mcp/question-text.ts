/** A waiting call as a person reads it before approving it: the command line, or the lines that it would change. */
import { isMap, renderText } from '#contract';
import type { Question } from '#protocol';

/** Clients show it in a dialog. */
const MAX_CHARS = 4_000;

export function questionText({ function_id: id, line, payload, reason, rule }: Question): string {
  const why = reason == null ? `rule ${rule}` : `${reason} (rule ${rule})`;
  const head = [`Approve ${id}${line == null ? '' : `: ${line}`}?`, `Asked because of ${why}.`].join('\n');
  const changes = changesIn(payload);
  const body = changes.length > 0 ? changes.join('\n') : renderText(payload);
  const text = `${head}\n\n${body}`;
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n… cut: ${text.length} characters` : text;
}

/** Replaced texts and new contents as the lines of a diff; a patch is one already. */
function changesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(changesIn);
  if (!isMap(value)) return [];
  const { path, old, new: next, content, patch } = value;
  const name = typeof path === 'string' ? [`--- ${path}`] : [];
  if (typeof old === 'string' && typeof next === 'string') return [...name, ...signed('-', old), ...signed('+', next)];
  if (typeof content === 'string') return [...name, ...signed('+', content)];
  if (typeof patch === 'string') return [patch];
  return Object.values(value).flatMap(changesIn);
}

function signed(sign: string, text: string): string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign}${line}`);
}
