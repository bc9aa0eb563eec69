/**
 * Output as text, cut between characters, so that several parts joined are the same as one.
 *
 * Bytes that are not UTF-8 become U+FFFD.
 */
import { wholeCharacters, type OutputRing, type RingPiece } from '#host';
import { stripAnsi, unfinishedSequenceAt } from './strip-ansi.ts';

export interface OutputText {
  readonly from: number;
  readonly next: number;
  readonly pieces: readonly { readonly stream: RingPiece['stream']; readonly text: string; readonly next: number }[];
}

interface Asked {
  readonly since: number;
  readonly maxBytes: number;
  readonly stripsAnsi?: boolean;
}

export function readText(ring: OutputRing, { since, maxBytes, stripsAnsi = false }: Asked): OutputText {
  const read = ring.read(since, maxBytes);
  const skipped = read.from > since ? continuationBytes(read.pieces) : 0;
  const from = read.from + skipped;
  const unfinished = unfinishedBytes(read.pieces, { stripsAnsi, mayGrow: !ring.isFinished || read.next < ring.end });
  // Returns an incomplete end after all if nothing else was read and more output follows: a reader would otherwise get
  // an empty part again and again.
  const next = read.next - unfinished > from || read.next === ring.end ? read.next - unfinished : read.next;
  return { from, next, pieces: textOf(cut(read.pieces, from, next), stripsAnsi) };
}

/** The rest of a character whose beginning was dropped. */
function continuationBytes([first]: readonly RingPiece[]): number {
  let count = 0;
  while (first && count < Math.min(3, first.bytes.length) && (first.bytes[count]! & 0xc0) === 0x80) count++;
  return count;
}

function unfinishedBytes(
  pieces: readonly RingPiece[],
  { stripsAnsi, mayGrow }: { stripsAnsi: boolean; mayGrow: boolean },
) {
  const bytes = pieces.at(-1)?.bytes;
  if (!bytes || !mayGrow) return 0;
  const whole = wholeCharacters(bytes);
  const shown = stripsAnsi ? unfinishedSequenceAt(bytes.toString('latin1', 0, whole)) : whole;
  return bytes.length - shown;
}

function cut(pieces: readonly RingPiece[], from: number, next: number): RingPiece[] {
  return pieces.flatMap(({ stream, at, bytes }) => {
    const part = bytes.subarray(Math.max(0, from - at), Math.max(0, next - at));
    return part.length > 0 ? [{ stream, at: Math.max(from, at), bytes: part }] : [];
  });
}

/** A character may begin in one piece of a stream and end in its next. */
function textOf(pieces: readonly RingPiece[], stripsAnsi: boolean): OutputText['pieces'] {
  const decoders = { stdout: decoder(), stderr: decoder() };
  return pieces.map(({ stream, at, bytes }, index) => {
    const hasMore = pieces.slice(index + 1).some((later) => later.stream === stream);
    const text = decoders[stream].decode(bytes, { stream: hasMore });
    return { stream, text: stripsAnsi ? stripAnsi(text) : text, next: at + bytes.length };
  });
}

function decoder() {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
