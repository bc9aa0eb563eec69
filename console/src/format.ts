/** Formats numbers and times. */

export function duration(ms: number): string {
  if (ms === 0) return '—';
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = count / 1024;
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** Made once: creating it costs more than the rest of a list row. */
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

export function clock(ms: number): string {
  return CLOCK.format(ms);
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Includes the day, unless that is today. */
export function moment(ms: number, nowMs = Date.now()): string {
  const [day, today] = [DAY.format(ms), DAY.format(nowMs)];
  return day === today ? clock(ms) : `${day}, ${clock(ms)}`;
}

/** Includes milliseconds, for frequent events. */
export function preciseClock(ms: number): string {
  return `${clock(ms)}.${String(Math.floor(ms) % 1_000).padStart(3, '0')}`;
}

export function shortId(id: string): string {
  return id.length > 13 ? id.slice(0, 8) : id;
}

export function percentile(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** How long ago, roughly. */
export function since(ms: number, nowMs = Date.now()): string {
  const ago = Math.max(0, nowMs - ms);
  if (ago < 5_000) return 'just now';
  if (ago < 60_000) return `${Math.floor(ago / 1_000)} s ago`;
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min ago`;
  return ago < 86_400_000 ? `${Math.floor(ago / 3_600_000)} h ago` : `${Math.floor(ago / 86_400_000)} d ago`;
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
