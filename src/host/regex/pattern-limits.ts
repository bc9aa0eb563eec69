/**
 * Refuses patterns that would cost too much to compile, by their text.
 *
 * The crate limits the size of a compiled pattern, but has parsed it by then: in (?i), folding one large class takes up
 * to 20 ms, and 64 KiB of them took minutes.
 */

const MAX_PATTERN_BYTES = 65_536;
const MAX_CLASSES = 500;
const MAX_FOLDED_CLASSES = 50;

/** Beyond these sizes, parsing the pattern costs more than it can save. */
const MAX_ANALYSED_CHARS = 4_096;
const MAX_ANALYSED_CLASSES = 50;

/** The reason to refuse a pattern (with its flags) without compiling it. */
export function excessOf(pattern: string): string | undefined {
  if (Buffer.byteLength(pattern) > MAX_PATTERN_BYTES) return `longer than ${MAX_PATTERN_BYTES} bytes`;

  const classes = countClasses(pattern);
  if (classes > MAX_CLASSES) return `more than ${MAX_CLASSES} character classes`;
  if (classes > MAX_FOLDED_CLASSES && mayFold(pattern)) {
    return `more than ${MAX_FOLDED_CLASSES} character classes while ignoring case`;
  }
  return undefined;
}

export function isWorthAnalysing(pattern: string): boolean {
  return pattern.length <= MAX_ANALYSED_CHARS && countClasses(pattern) <= MAX_ANALYSED_CLASSES;
}

/** Brackets and Unicode classes, also literal ones: an upper bound. */
function countClasses(pattern: string): number {
  return pattern.match(/\[|\\[wWdDsSpP]/g)?.length ?? 0;
}

/** Whether the pattern may contain (?i); `a?i` counts too. */
function mayFold(pattern: string): boolean {
  return /\?[a-zA-Z-]*i/.test(pattern);
}
