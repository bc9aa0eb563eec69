/**
 * Globs whose wildcards stay inside one name: `*`, `?` and classes never match a `/`; only `**` as a whole name does.
 *
 * A pattern without `/` matches the last name, at any depth; one with `/` matches the whole path.
 */
import { parseGlob, PREFIX, setOf, type GlobDialect, type GlobToken, type GlobWildcards } from './glob-syntax.ts';

/** With classes and alternatives: `[ab]`, `{a,b}`. */
export const parseSegments: GlobDialect = (pattern) => {
  const tokens = parseGlob(pattern.replace(/^\//, ''), NAME_WILDCARDS);
  return pattern.includes('/') ? tokens : [PREFIX, ...tokens];
};

/** Every byte but the slash. */
const NAME_BYTES = setOf([
  [0x00, 0x2e],
  [0x30, 0xff],
]);

const bytes = (from: number, to: number): GlobToken => ({ kind: 'byte', set: setOf([[from, to]]) });
const CONTINUES = bytes(0x80, 0xbf);

/** One UTF-8 character. */
const NAME_CHARACTER: GlobToken = {
  kind: 'either',
  branches: [
    [bytes(0x00, 0x2e)],
    [bytes(0x30, 0x7f)],
    [bytes(0xc0, 0xdf), CONTINUES],
    [bytes(0xe0, 0xef), CONTINUES, CONTINUES],
    [bytes(0xf0, 0xf7), CONTINUES, CONTINUES, CONTINUES],
  ],
};

export const NAME_WILDCARDS: GlobWildcards = { bytes: NAME_BYTES, one: NAME_CHARACTER };
