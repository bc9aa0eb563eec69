/** Reports as Markdown: readable in a terminal, and kept in docs/benchmarks.md between markers, one pair a suite. */

/** Cells are padded, so that the table also reads well as plain text. */
export function markdownTable(header, rows) {
  const widths = header.map((title, column) => Math.max(...[header, ...rows].map((row) => row[column].length), 3));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** The document with one suite's section replaced, or added at the end; the rest stays as it is. */
export function withSection(document, suite, section) {
  const [begin, end] = [`<!-- bench:${suite}:begin -->`, `<!-- bench:${suite}:end -->`];
  const block = `${begin}\n\n${section}\n\n${end}`;
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 && to < 0) return `${document.trimEnd()}\n\n${block}\n`;
  if (from < 0 || to < from) throw new Error(`the markers of ${suite} are not a pair: ${begin} … ${end}`);

  return document.slice(0, from) + block + document.slice(to + end.length);
}
