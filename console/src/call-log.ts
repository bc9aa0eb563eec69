/** The calls seen since the page opened, bounded, and statistics over them. */
import { functionKey } from './catalogue.ts';
import { percentile } from './format.ts';

export interface CallRow {
  id: string;
  function_id: string;
  namespace: string | null;
  caller: string;
  /** Distinguishes callers. */
  caller_id: string;
  /** The path, command line or pattern, as its function declares. */
  line: string | null;
  /** Set by the engine; a caller cannot choose it. */
  principal: { id: string; kind: string };
  /** The parent call. */
  via: string | null;
  worker: string | null;
  /** The other node of the cluster that runs it. */
  node: string | null;
  started_at_ms: number;
  duration_ms: number;
}

export interface ChangedLines {
  files: number;
  added: number;
  removed: number;
}

export type OutcomeKind = 'ok' | 'warning' | 'failed' | 'refused' | 'cancelled';

export interface EndedRow extends CallRow {
  seq: number;
  code: string | null;
  outcome: { kind: OutcomeKind; text: string };
  changed: ChangedLines | null;
}

export interface RunningRow extends CallRow {
  /** Whether it waits because its caller is paused. */
  waits: boolean;
}

export interface CallsReply {
  ended: EndedRow[];
  running: RunningRow[];
  latest: number;
}

/** A call as the table shows it. */
export interface ShownCall extends CallRow {
  key: string;
  /** The entry of the catalogue that was called. */
  functionKey: string;
  outcome: OutcomeKind | 'running' | 'waiting';
  /** Its outcome in a word or two. */
  says: string;
  /** The code of its failure. */
  code?: string;
  changed?: ChangedLines;
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
  const ended = reply.ended.map(({ seq, code, outcome: { kind, text }, changed, ...row }): ShownCall => ({
    ...row,
    key: keyOf(row, seq),
    functionKey: functionKeyOf(row),
    outcome: kind,
    says: text,
    ...(code !== null && { code }),
    ...(changed && { changed }),
    words: wordsOf(row, `${kind} ${text}`),
  }));
  const running = reply.running.map(({ waits, ...row }): ShownCall => {
    const outcome = waits ? 'waiting' : 'running';
    return {
      ...row,
      key: row.id,
      functionKey: functionKeyOf(row),
      outcome,
      says: waits ? 'paused' : 'running',
      words: wordsOf(row, outcome),
    };
  });
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
  const { caller, line, principal, worker, node, id, via } = row;
  const text = `${functionKeyOf(row)} ${line ?? ''} ${principal.kind} ${caller} ${worker} ${node ?? ''} ${outcome} ${id} ${via}`;
  return text.toLowerCase();
}

export interface CallFilter {
  words: string;
  /** The id of one caller. */
  caller?: string | undefined;
  /** Where it ran: the name of another node, or null for this one. */
  node?: string | null | undefined;
  /** Calls of pages are the console's own. */
  isOwnShown: boolean;
}

/** Calls that contain every word, in their ids, names, lines or outcome. */
export function filterCalls(calls: ShownCall[], { words, caller, node, isOwnShown }: CallFilter): ShownCall[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return calls.filter((call) => {
    if (!isOwnShown && call.principal.kind === 'page') return false;
    if (caller !== undefined && call.caller_id !== caller) return false;
    if (node !== undefined && call.node !== node) return false;
    return wanted.every((word) => call.words.includes(word));
  });
}

function isFailure({ outcome }: ShownCall): boolean {
  return outcome === 'failed' || outcome === 'refused';
}

/** The calls of each caller together, the caller that called last first. */
export function groupByCaller(calls: ShownCall[]): { caller: string; id: string; calls: ShownCall[] }[] {
  const groups = new Map<string, { caller: string; id: string; calls: ShownCall[] }>();
  for (const call of calls) {
    const group = groups.get(call.caller_id) ?? { caller: call.caller, id: call.caller_id, calls: [] };
    group.calls.push(call);
    groups.set(call.caller_id, group);
  }
  return [...groups.values()];
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
    failed: calls.filter(isFailure).length,
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
    if (bin) bin[isFailure(call) ? 'failed' : 'ok'] += 1;
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
