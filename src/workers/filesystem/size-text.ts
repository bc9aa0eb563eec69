/** Parses sizes: a number of bytes, or a number with B, KB, MB or GB, each 1024 times the one before. */

const UNITS = ['B', 'KB', 'MB', 'GB'];

/** Returns bytes; undefined for an invalid size. */
export function parseSize(size: string | number): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size >= 0 ? size : undefined;

  const [, digits, unit = 'B'] = /^\s*(\d+(?:\.\d+)?)\s*([KMG]?B)?\s*$/i.exec(size) ?? [];
  if (digits === undefined) return undefined;
  const bytes = Math.floor(Number(digits) * 1024 ** UNITS.indexOf(unit.toUpperCase()));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
