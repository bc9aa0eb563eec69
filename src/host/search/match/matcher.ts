/** A query prepared for texts in one memory: matches paths and finds lines. */
import type { Regex } from '../../regex/index.ts';
import { FoldedMatcher } from './folded-matcher.ts';
import type { Hit, TextRange } from './lines.ts';
import { LiteralMatcher } from './literal-matcher.ts';
import type { Query } from '../query.ts';
import { RegexMatcher } from './regex-matcher.ts';
import type { TextMemory } from './text-memory.ts';

export interface Matcher {
  matchesPath(path: string): boolean;
  /** The first lines that match, at most `limit`. Also returns the text, or a copy that is valid UTF-8. */
  find(text: TextRange, limit: number): { text: TextRange; hits: Hit[] };
}

/** `regex` is the compiled pattern of a regex query. */
export function createMatcher(query: Query, regex: Regex | undefined, memory: TextMemory): Matcher {
  if (regex) return new RegexMatcher(regex, memory);
  return query.ignoreCase ? new FoldedMatcher(query.pattern, memory) : new LiteralMatcher(query.pattern, memory);
}
