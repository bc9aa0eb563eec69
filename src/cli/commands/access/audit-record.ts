/** One record of the audit as a line for people. */
export interface AuditRecord {
  readonly seq?: number;
  readonly ts?: number;
  readonly function?: string;
  /** Only in a record of a person's action, such as `approve`, instead of a function. */
  readonly action?: string;
  readonly target?: unknown;
  readonly caller?: string;
  readonly verdict?: string;
  readonly rule?: string;
  readonly outcome?: string;
  readonly duration_ms?: number;
  readonly arguments?: unknown;
}

const MOST_CHARS = 120;

export function recordLine({
  seq,
  ts = 0,
  caller = '?',
  verdict = 'allow',
  rule,
  outcome,
  ...record
}: AuditRecord): string {
  const shown = JSON.stringify(record.arguments ?? record.target ?? {});
  return [
    ...[seq ?? '?', new Date(ts).toISOString(), caller, record.function ?? record.action ?? '?'],
    ...(verdict === 'allow' ? [] : [`${verdict} by ${rule}`]),
    ...(outcome === undefined ? [] : [outcome]),
    ...(record.duration_ms === undefined ? [] : [`${record.duration_ms} ms`]),
    shown.length > MOST_CHARS ? `${shown.slice(0, MOST_CHARS)}…` : shown,
  ].join('  ');
}
