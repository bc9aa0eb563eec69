/**
 * Finds a text in a larger one, yielding in between.
 *
 * The platform's search takes the product of both lengths for a text like `aaabaaa` among many `a`. So only the first
 * bytes are searched for, a window at a time, and each candidate is compared as a whole.
 */
import { Turns } from '#host';
import { withEndings } from './line-endings.ts';

const HEAD_BYTES = 256;
const WINDOW_BYTES = 65_536;

const TURN_MS = 5;

/** Occurrences from the top, not overlapping, in the line endings of the text. */
export interface Occurrences {
  starts: number[];
  /** Length of each occurrence in bytes. */
  length: number;
}

/** The first occurrences. A wanted text with LF also matches the CRLF of the text, and vice versa. */
export async function findText(
  text: Buffer,
  wanted: string,
  { atMost, signal }: { atMost: number; signal: AbortSignal },
): Promise<Occurrences> {
  const turns = new Turns(signal, TURN_MS);
  for await (const spelling of spellingsOf(wanted, text, signal)) {
    const starts = await startsOf(text, spelling, { atMost, turns });
    if (starts.length > 0) return { starts, length: spelling.length };
  }
  return { starts: [], length: 0 };
}

async function startsOf(
  text: Buffer,
  wanted: Buffer,
  { atMost, turns }: { atMost: number; turns: Turns },
): Promise<number[]> {
  const head = wanted.subarray(0, HEAD_BYTES);
  const starts: number[] = [];
  let from = 0;
  while (starts.length < atMost && from + wanted.length <= text.length) {
    if (turns.isOver) await turns.next();
    const found = text.subarray(from, from + WINDOW_BYTES + head.length - 1).indexOf(head);
    if (found < 0) {
      from += WINDOW_BYTES;
      continue;
    }

    const start = from + found;
    const isWhole = text.subarray(start, start + wanted.length).equals(wanted);
    if (isWhole) starts.push(start);
    from = start + (isWhole ? wanted.length : 1);
  }
  return starts;
}

/** The spellings of the wanted text that can occur in the text. */
async function* spellingsOf(wanted: string, text: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield Buffer.from(wanted);
  if (wanted.includes('\n') && text.includes('\r\n')) yield withEndings(wanted, '\r\n', { signal });
  if (wanted.includes('\r\n')) yield withEndings(wanted, '\n', { signal });
}
