/** A function as the pages show it, from the row that the engine lists. */
import { isObject, type JsonSchema } from './loose-json.ts';

export interface FunctionRow {
  function_id: string;
  namespace: string;
  worker_name: string;
  description: string | null;
  request_format?: JsonSchema | null;
  response_format?: JsonSchema | null;
  metadata?: unknown;
}

export type Effect = 'read' | 'write' | 'delete' | 'execute';

export interface Entry {
  id: string;
  /** The id, with the namespace in front of it unless that is the default one. */
  key: string;
  namespace: string;
  worker: string;
  summary: string;
  details?: string;
  effect?: Effect;
  request?: JsonSchema;
  response?: JsonSchema;
  errors: { code: string; meaning?: string }[];
  examples: unknown[];
  isInternal: boolean;
  /** Whether a call with `{change}` in its metadata works in that change. */
  takesChange: boolean;
}

/** The unique key of an entry. */
export function functionKey({ function_id, namespace }: Pick<FunctionRow, 'function_id' | 'namespace'>): string {
  return namespace === 'default' ? function_id : `${namespace}/${function_id}`;
}

export function toEntry(row: FunctionRow): Entry {
  const { effect, details, errors, examples, internal, takes_change } = (row.metadata ?? {}) as Record<string, unknown>;
  return {
    id: row.function_id,
    key: functionKey(row),
    namespace: row.namespace,
    worker: row.worker_name,
    summary: row.description ?? '',
    ...(typeof details === 'string' && { details }),
    ...(isEffect(effect) && { effect }),
    ...(isObject(row.request_format) && { request: row.request_format }),
    ...(isObject(row.response_format) && { response: row.response_format }),
    errors: Array.isArray(errors) ? errors.flatMap(toErrorRow) : [],
    examples: Array.isArray(examples) ? examples : [],
    takesChange: takes_change === true,
    isInternal: internal === true || (row.function_id.startsWith('engine::') && row.worker_name === 'engine'),
  };
}

function toErrorRow(row: unknown): Entry['errors'] {
  if (!isObject(row) || typeof row.code !== 'string') return [];
  return [{ code: row.code, ...(typeof row.meaning === 'string' && { meaning: row.meaning }) }];
}

/** Entries that contain every word of the search, by worker, the engine last. */
export function groupEntries(entries: Entry[], search: string): { worker: string; entries: Entry[] }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((entry) => {
    const text = `${entry.key} ${entry.summary} ${entry.worker} ${entry.effect ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const groups = new Map<string, Entry[]>();
  for (const entry of found) groups.set(entry.worker, [...(groups.get(entry.worker) ?? []), entry]);
  return [...groups]
    .map(([worker, members]) => ({ worker, entries: members.toSorted((a, b) => (a.key < b.key ? -1 : 1)) }))
    .toSorted((a, b) => rank(a.entries) - rank(b.entries) || (a.worker < b.worker ? -1 : 1));
}

function rank(entries: Entry[]): number {
  return entries.every((entry) => entry.isInternal) ? 1 : 0;
}

function isEffect(value: unknown): value is Effect {
  return ['read', 'write', 'delete', 'execute'].includes(value as string);
}
