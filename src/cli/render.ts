/** Text for terminals. Programs ask for `--json`. */
export function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows].map((row) => row.map(visible));
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}

/** One line without control characters: peers choose their names and texts, and a terminal obeys control characters. */
export function visible(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
}
