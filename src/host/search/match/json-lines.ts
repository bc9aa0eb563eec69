/**
 * Writes matching lines as JSON, by the kernel, from the text in memory: no line becomes a string.
 *
 * A line that is clipped or not plain ASCII becomes a string first, as in every other search.
 */
import type { FindingsWriter } from '../findings.ts';
import { columnOf, showLine, type Hit, type Shown, type TextRange } from './lines.ts';
import type { TextMemory } from './text-memory.ts';

const BYTES_AT_ONCE = 262_144;
const LINES_AT_ONCE = 1024;
/** The kernels may read or write this far past the end. */
const SLACK_BYTES = 32;
const BEYOND_ASCII = /[^\x00-\x7f]/;

interface Lines {
  readonly memory: TextMemory;
  readonly path: string;
  readonly text: TextRange;
  readonly hits: readonly Hit[];
  readonly query: Shown;
}

/** A line whose number is known. */
interface Known {
  readonly address: number;
  readonly line: number;
}

/** Writes the matching lines with path, number, column and text. They must be in order. */
export function writeJsonLines(writer: FindingsWriter, { memory, path, text, hits, query }: Lines): void {
  const head = Buffer.from(`,{"path":${asciiJson(path)},"line":`);
  let known: Known = { address: text.start, line: 1 };
  for (let done = 0; done < hits.length;) {
    const next = hits.length <= LINES_AT_ONCE && done === 0 ? hits : hits.slice(done, done + LINES_AT_ONCE);
    const plain = addPlain(writer, { memory, head, text, hits: next, query }, known);
    done += plain.count;
    known = plain.known;
    if (plain.count > 0) continue;
    const hit = hits[done++]!;
    const line = known.line + memory.kernels.countNewlines(known.address, hit.lineStart - known.address);
    known = { address: hit.lineStart, line };
    addShown(writer, { memory, head, query }, hit, line);
  }
}

/** Writes lines until one is not plain or the buffer is full; returns how many. */
function addPlain(
  writer: FindingsWriter,
  { memory, head, text, hits, query }: Omit<Lines, 'path'> & { head: Buffer },
  known: Known,
): { count: number; known: Known } {
  const rows = memory.rowsBehind(text.end, hits.length, { moreBytes: head.length + BYTES_AT_ONCE + 2 * SLACK_BYTES });
  for (let i = 0; i < hits.length; i++) {
    const { lineStart, lineEnd, matchStart, column } = hits[i]!;
    rows[3 * i] = lineStart;
    rows[3 * i + 1] = lineEnd;
    rows[3 * i + 2] = column === undefined ? matchStart : lineStart + column - 1;
  }
  const headAt = rows.byteOffset + rows.byteLength;
  const to = headAt + head.length + SLACK_BYTES;
  memory.buffer.set(head, headAt);
  const [from, since, room] = [known.address, known.line, to + BYTES_AT_ONCE];
  const max = query.maxLineBytes;
  const count = memory.kernels.writeLines(
    rows.byteOffset,
    hits.length,
    from,
    since,
    max,
    headAt,
    head.length,
    to,
    room,
  );
  if (count === 0) return { count, known };

  const start = writer.addJson(memory.buffer.subarray(to, rows[3 * count - 2]));
  for (let i = 0; i < count; i++) {
    const { lineStart, lineEnd } = hits[i]!;
    writer.addJsonLine(lineEnd - lineStart, start + rows[3 * i + 1]! - to);
  }
  return { count, known: { address: hits[count - 1]!.lineStart, line: rows[3 * count - 3]! } };
}

function addShown(
  writer: FindingsWriter,
  { memory: { buffer }, head, query }: Pick<Lines, 'memory' | 'query'> & { head: Buffer },
  { lineStart, lineEnd, matchStart, column }: Hit,
  line: number,
): void {
  const text = showLine(buffer, { start: lineStart, end: lineEnd }, query.maxLineBytes);
  const shownColumn = column ?? columnOf(buffer, { start: lineStart, end: matchStart }, query);
  const json = Buffer.concat([head, Buffer.from(`${line},"column":${shownColumn},"text":${asciiJson(text)}}`)]);
  writer.addJsonLine(text.length, writer.addJson(json) + json.length);
}

/** One character beyond ASCII would make the whole answer three times as slow to decode for the receiver. */
function asciiJson(text: string): string {
  const json = JSON.stringify(text);
  if (!BEYOND_ASCII.test(json)) return json;
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
