/**
 * Text for a stream that may be a terminal.
 *
 * Replies, command output and messages contain text chosen by agents, guests and files, and a terminal obeys control
 * characters in it. Those are escaped as JSON would, so JSON stays the same; a pipe gets the bytes unchanged.
 */
import { painter, type Colour } from './colour.ts';
import type { CommandInput } from './command.ts';
import { PAGE_COLUMNS, table, type Table } from './render.ts';
import type { LogSink } from './terminal-log.ts';

export interface Sink extends LogSink {
  columns?: number;
}

export function printJson(value: unknown, stream: Sink = process.stdout): void {
  printText(`${JSON.stringify(value, null, 2)}\n`, stream);
}

/** The reply as JSON if `--json` was given, else its text or its table. */
export function printReply({ json }: CommandInput['options'], reply: unknown, shown: () => string | Table): void {
  if (json === true) return printJson(reply);
  const given = shown();
  if (typeof given === 'string') printText(given);
  else printTable(given);
}

/** Fits a terminal, whose user reads it; a pipe gets whole cells. */
function printTable({ head, rows }: Table, stream: Sink = process.stdout): void {
  const width = stream.isTTY ? stream.columns || PAGE_COLUMNS : Infinity;
  stream.write(table(head, rows, { width, paint: painter(stream) }));
}

export function printText(text: string, stream: Sink = process.stdout): void {
  stream.write(stream.isTTY ? spelledOut(text) : text);
}

/** Lines in colours, if the stream is a terminal that wants them. */
export function printLines(lines: readonly { text: string; colour?: Colour }[], stream: Sink = process.stdout): void {
  const paint = painter(stream);
  const shown = lines.map(({ text, colour }) => paint(colour, stream.isTTY ? spelledOut(text) : text));
  if (shown.length > 0) stream.write(`${shown.join('\n')}\n`);
}

/** The one shape of errors: `Error: [CODE] message`, and the fix below it. */
export function printFailure(
  { code, message, help = [] }: { code?: string | undefined; message: string; help?: readonly string[] },
  stream: Sink = process.stderr,
): void {
  const lines = [`${code === undefined ? '' : `[${code}] `}${message}`, ...help.map((line) => `  ${line}`)];
  const text = `${lines.join('\n')}\n`;
  stream.write(`${painter(stream)('red', 'Error:')} ${stream.isTTY ? spelledOut(text) : text}`);
}

/** Line ends and tabs stay; a bare carriage return would let the rest of a line overwrite its beginning. */
function spelledOut(text: string): string {
  return text.replaceAll(/(?!\n|\t|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    found.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
