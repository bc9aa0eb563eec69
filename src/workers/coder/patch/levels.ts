/** How equal two lines must be to match: the levels at which chunks are placed, from strict to loose. */

export const LEVELS = ['exact', 'trailing-space', 'indentation', 'punctuation'] as const;
export type Level = (typeof LEVELS)[number];

/** From this level on a chunk must match only once: lines that are equal without indentation often differ in meaning. */
export const LOOSE = 2;

/** The loosest level of each `fuzz`. */
export const LAST_LEVEL = { exact: 0, space: 1, indent: 3 } as const;
export type Fuzz = keyof typeof LAST_LEVEL;

/** The text by which a line is compared at each level. */
export const keyAt: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainPunctuation(line.trim()),
];

const QUOTES_AND_DASHES = /[\u2010-\u2015\u2018-\u201F\u2212]/g;
const SPACES = /[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g;

/** Replaces typographic quotes, dashes and spaces, which models and editors insert, by their ASCII forms. */
function plainPunctuation(line: string): string {
  return line.replaceAll(QUOTES_AND_DASHES, plainCharacter).replaceAll(SPACES, ' ');
}

function plainCharacter(character: string): string {
  if (character >= '\u2018' && character <= '\u201B') return "'";
  return character >= '\u201C' && character <= '\u201F' ? '"' : '-';
}
