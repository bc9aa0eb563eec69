/**
 * Text for a stream that may be a terminal.
 *
 * Replies, output of commands and messages hold what agents, guests and files chose, and a terminal obeys some characters of
 * it. Those are spelled out as JSON would, so JSON stays what it was; a pipe gets every byte as it is.
 */
import type { LogSink } from './terminal-log.ts';

export function printJson(value: unknown, stream: LogSink = process.stdout): void {
  printText(`${JSON.stringify(value, null, 2)}\n`, stream);
}

export function printText(text: string, stream: LogSink = process.stdout): void {
  stream.write(stream.isTTY ? spelledOut(text) : text);
}

/** Line ends and tabs stay; a carriage return alone would let the rest of a line hide its beginning. */
function spelledOut(text: string): string {
  return text.replaceAll(/(?!\n|\t|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    found.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
