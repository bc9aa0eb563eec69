/** Lines with their numbers, cut to the size limit of a reply. */

/** Longest line that is shown; minified files have lines of megabytes. */
const MAX_LINE_CHARS = 2000;

export function clipLine(line: string, most: number = MAX_LINE_CHARS): string {
  if (line.length <= most) return line;
  const shown = line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
  return `${shown}… (${line.length} characters)`;
}

/** `12⇥text` for each line. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${first + i}\t${line}`).join('\n');
}

/** The lines of a text, without their endings; a newline at the end adds none. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Number of first lines that fit. */
export function fitting(lines: readonly string[], maxChars: number): number {
  let left = maxChars;
  for (const [i, line] of lines.entries()) {
    left -= line.length + 1;
    if (left < 0) return i;
  }
  return lines.length;
}

/** Quotes a name that another program chose, so that it cannot pass for lines of the reply. */
export function quoted(name: string): string {
  return /[\s"\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}

/** The lines that fit, followed by the text of `rest` about the others. */
export function fitted(lines: readonly string[], maxChars: number, rest: (left: number) => string): string {
  const fit = fitting(lines, maxChars);
  return [...lines.slice(0, fit), ...(fit < lines.length ? [rest(lines.length - fit)] : [])].join('\n');
}

/** `one, two and 3 more`. */
export function someOf(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
