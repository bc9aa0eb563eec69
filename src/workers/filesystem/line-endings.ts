/** Converts all line endings of a text, in turns: a text of newlines only takes seconds. */
import { Turns } from '#host';

const BYTES_AT_ONCE = 65_536;
const TURN_MS = 5;

const CARRIAGE_RETURN = 0x0d;

export async function withEndings(
  text: string,
  ending: '\n' | '\r\n',
  { signal }: { readonly signal: AbortSignal },
): Promise<Buffer> {
  const turns = new Turns(signal, TURN_MS);
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  let end: number;
  for (let start = 0; start < bytes.length; start = end) {
    end = start + BYTES_AT_ONCE;
    // Do not split a CRLF.
    if (bytes[end - 1] === CARRIAGE_RETURN) end++;
    parts.push(Buffer.from(bytes.toString('latin1', start, end).replaceAll(/\r?\n/g, ending), 'latin1'));
    if (turns.isOver) await turns.next();
  }
  return Buffer.concat(parts);
}
