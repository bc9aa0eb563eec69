/** The calls seen since the page opened, bounded, and statistics over them. */
import { functionKey } from './catalogue.ts';
import { percentile } from './format.ts';

export interface CallRow {
  id: string;
  function_id: string;
  namespace: string | null;
  caller: string;
  /** Set by the engine; a caller cannot choose it. */
  principal: { id: string; kind: string };
  /** The parent call. */
  via: string | null;
  worker: string | null;
  started_at_ms: number;
  duration_ms: number;
}

export interface EndedRow extends CallRow {
  seq: number;
  code: string | null;
}

export interface CallsReply {
  ended: EndedRow[];
  running: CallRow[];
  latest: number;
}

/** A call as the table shows it. */
export interface ShownCall extends CallRow {
  key: string;
  /** The entry of the catalogue that was called. */
  functionKey: string;
  outcome: 'running' | 'ok' | 'failed';
  code?: string;
  /** Text for the filter, in lower case. */
  words: string;
}

export interface CallLog {
  latest: number;
  ended: ShownCall[];
  running: ShownCall[];
}

export const MAX_KEPT = 10_000;
export const emptyLog: CallLog = { latest: 0, ended: [], running: [] };

/** When `seq` restarts, it is a new engine: calls of the previous one stay in the list. */
export function addReply(log: CallLog, reply: CallsReply): CallLog {
  const ended = reply.ended.map(({ seq, code, ...row }): ShownCall => ({
    ...row,
    key: keyOf(row, seq),
    functionKey: functionKeyOf(row),
    ...(code === null ? { outcome: 'ok' } : { outcome: 'failed', code }),
    words: wordsOf(row, code === null ? 'ok' : `failed ${code}`),
  }));
  const running = reply.running.map((row): ShownCall => ({
    ...row,
    key: row.id,
    functionKey: functionKeyOf(row),
    outcome: 'running',
    words: wordsOf(row, 'running'),
  }));
  return { latest: reply.latest, ended: [...ended.toReversed(), ...log.ended].slice(0, MAX_KEPT), running };
}

/** The same key while it runs and after it ended. The id of a call that reached no worker is any text of its caller. */
function keyOf({ id, worker, started_at_ms }: CallRow, seq: number): string {
  return worker === null ? `refused-${started_at_ms}-${seq}` : id;
}

export function functionKeyOf({ function_id, namespace }: CallRow): string {
  return functionKey({ function_id, namespace: namespace ?? 'default' });
}

function wordsOf(row: CallRow, outcome: string): string {
  const { caller, principal, worker, id, via } = row;
  return `${functionKeyOf(row)} ${principal.kind} ${caller} ${worker} ${outcome} ${id} ${via}`.toLowerCase();
}

/** Calls that contain every word, in their ids, names or outcome. Calls of pages are the console's own. */
export function filterCalls(calls: ShownCall[], words: string, isOwnShown: boolean): ShownCall[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return calls.filter((call) => {
    if (!isOwnShown && call.principal.kind === 'page') return false;
    return wanted.every((word) => call.words.includes(word));
  });
}

export interface Figures {
  count: number;
  failed: number;
  medianMs: number;
  slowMs: number;
}

export function figuresOf(calls: ShownCall[]): Figures {
  const durations = calls.map((call) => call.duration_ms).toSorted((a, b) => a - b);
  return {
    count: calls.length,
    failed: calls.filter((call) => call.outcome === 'failed').length,
    medianMs: percentile(durations, 0.5),
    slowMs: percentile(durations, 0.95),
  };
}

/** Succeeded and failed calls in each of the last seconds, oldest first. */
export function perSecond(calls: ShownCall[], nowMs: number, seconds: number): { ok: number; failed: number }[] {
  const bins = Array.from({ length: seconds }, () => ({ ok: 0, failed: 0 }));
  for (const call of calls) {
    const ago = Math.floor((nowMs - (call.started_at_ms + call.duration_ms)) / 1_000);
    const bin = bins[seconds - 1 - Math.max(0, ago)];
    if (bin) bin[call.outcome === 'failed' ? 'failed' : 'ok'] += 1;
  }
  return bins;
}

/** Start and width of a call as fractions of the time that a list covers. */
export function barOf(call: CallRow, span: { fromMs: number; toMs: number }): { left: number; width: number } {
  const whole = Math.max(1, span.toMs - span.fromMs);
  const left = Math.min(1, Math.max(0, (call.started_at_ms - span.fromMs) / whole));
  return { left, width: Math.min(1 - left, call.duration_ms / whole) };
}

/** From the first start to the last end. */
export function spanOf(calls: CallRow[]): { fromMs: number; toMs: number } {
  return calls.reduce(
    (span, call) => ({
      fromMs: Math.min(span.fromMs, call.started_at_ms),
      toMs: Math.max(span.toMs, call.started_at_ms + call.duration_ms),
    }),
    { fromMs: Infinity, toMs: -Infinity },
  );
}
