/**
 * Text for a stream that may be a terminal.
 *
 * Replies, command output and messages contain text chosen by agents, guests and files, and a terminal obeys control
 * characters in it. Those are escaped as JSON would, so JSON stays the same; a pipe gets the bytes unchanged.
 */
import type { CommandInput } from './command.ts';
import type { LogSink } from './terminal-log.ts';

export function printJson(value: unknown, stream: LogSink = process.stdout): void {
  printText(`${JSON.stringify(value, null, 2)}\n`, stream);
}

/** The reply as JSON if `--json` was given, else its text. */
export function printReply({ json }: CommandInput['options'], reply: unknown, text: () => string): void {
  if (json === true) printJson(reply);
  else printText(text());
}

export function printText(text: string, stream: LogSink = process.stdout): void {
  stream.write(stream.isTTY ? spelledOut(text) : text);
}

/** Line ends and tabs stay; a bare carriage return would let the rest of a line overwrite its beginning. */
function spelledOut(text: string): string {
  return text.replaceAll(/(?!\n|\t|\r\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    found.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
