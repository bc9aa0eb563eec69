/**
 * Whether something last changed long enough ago that the next change will show in its times.
 *
 * Times come in steps of some milliseconds: of two changes within one step, the second does not show. So content read
 * right after a change must not be cached by its times. Read the times before the content.
 */
import type { Stats } from 'node:fs';

/** Far longer than the timestamp steps of any file system. */
const SETTLED_MS = 50;

export function isSettled({ ctimeMs }: Pick<Stats, 'ctimeMs'>): boolean {
  return Date.now() - ctimeMs > SETTLED_MS;
}
