/**
 * Compiles regexes, with a cache of the last ones used.
 *
 * A new pattern costs about a millisecond and 2 MB. Large ones are not cached: 32 of them would hold gigabytes.
 */
import { Regex } from './regex.ts';

export interface RegexOptions {
  /** (?i) */
  ignoreCase?: boolean;
  /** (?m): `^` and `$` at every line. */
  multiLine?: boolean;
  /** (?s) */
  dotMatchesNewLine?: boolean;
}

const MAX_KEPT = 32;
const MAX_KEPT_BYTES = 8 * 2 ** 20;

/** Compiled patterns in the order of their last use. */
const kept = new Map<string, Regex>();

/** Throws `RegexError` for a pattern that does not compile or costs too much to compile. */
export function compileRegex(pattern: string, options: RegexOptions = {}): Regex {
  const flags = flagsOf(options);
  const key = `${flags}/${pattern}`;
  const regex = kept.get(key) ?? new Regex(pattern, flags);
  if (regex.compiledBytes <= MAX_KEPT_BYTES) keep(key, regex);
  return regex;
}

function flagsOf(options: RegexOptions): string {
  const letters = `${options.ignoreCase ? 'i' : ''}${options.multiLine ? 'm' : ''}${options.dotMatchesNewLine ? 's' : ''}`;
  return letters && `(?${letters})`;
}

function keep(key: string, regex: Regex): void {
  kept.delete(key);
  kept.set(key, regex);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
}
