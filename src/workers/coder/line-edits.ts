/**
 * Line operations on the bytes of a text, all at once.
 *
 * Numbers are those of the text as it came, so operations may not overlap. Bytes that none of them names stay
 * as they are: a new line ends as the line does that it replaces or precedes, and the text ends with a newline
 * afterwards if it did before. A byte order mark is not part of the first line.
 */
import { chomp, endsWithNewline, lineEnd, lineEnding, locateLines, type ByteRange } from '#host';
import { errors } from './errors.ts';

export type LineOp =
  | { op: 'insert'; at_line: number; content: string }
  | { op: 'remove'; from_line: number; to_line: number }
  | { op: 'update_lines'; from_line: number; to_line: number; content: string };

/** With its number in the request, from 1. */
export type Numbered<Op> = Op & { number: number };

/** What an operation has made in a text. */
export interface Site extends ByteRange {
  /** The number of the operation. */
  op: number;
}

export interface Edited {
  text: Buffer;
  /** In the order of the text. */
  sites: Site[];
}

/** The lines from `from` on and before `until` give way to others. */
interface LineEdit {
  op: Numbered<LineOp>;
  from: number;
  until: number;
  lines: string[];
}

const BOM = Buffer.from('\uFEFF');

/** Throws C210 for lines that the text does not have, and for operations that overlap. */
export function applyLineOps(text: Buffer, ops: readonly Numbered<LineOp>[]): Edited {
  const bom = text.subarray(0, text.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0);
  const body = text.subarray(bom.length);
  const edits = ops.map((op) => toEdit(op, { hasBom: bom.length > 0 }));

  const { count, starts } = locateLines(
    body,
    edits.flatMap(({ from, until }) => [from, until]),
  );
  for (const edit of edits) requireLines(edit, count);
  edits.sort((a, b) => a.from - b.from);
  requireDisjoint(edits);

  const result = new Assembly(bom);
  let done = 0;
  for (const { op, from, until, lines } of edits) {
    const range = { start: starts.get(from)!, end: starts.get(until)! };
    result.push(body.subarray(done, range.start));
    if (lines.length > 0) result.closeLine(lineEnding(body, range.start));
    result.push(spell(lines, body, range), op.number);
    done = range.end;
  }
  result.push(body.subarray(done));
  return result.finish({ withNewline: endsWithNewline(body) });
}

function toEdit(op: Numbered<LineOp>, { hasBom }: { hasBom: boolean }): LineEdit {
  const from = op.op === 'insert' ? op.at_line : op.from_line;
  const until = op.op === 'insert' ? from : op.to_line + 1;
  const content = op.op === 'remove' ? '' : op.content;
  // The mark stays before the first line; one that comes with a new first line would be a second.
  const isSecond = hasBom && from === 1 && content.startsWith('\uFEFF');
  return { op, from, until, lines: splitContent(isSecond ? content.slice(1) : content) };
}

/** A newline at the end adds no line, and carriage returns before a newline belong to it. */
function splitContent(content: string): string[] {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    let end = line.length;
    while (line[end - 1] === '\r') end--;
    return line.slice(0, end);
  });
}

function requireLines({ op, from, until }: LineEdit, count: number): void {
  const isInsert = op.op === 'insert';
  const isInText = from >= 1 && until <= count + 1 && (isInsert || from < until);
  if (isInText) return;

  const allowed = isInsert ? `at_line may be 1 to ${count + 1}` : `1 <= from_line <= to_line <= ${count} must hold`;
  throw errors.fail('C210', { problem: `${nameOf(op)} does not fit: the file has ${count} lines, so ${allowed}` });
}

/** An insertion takes up the line before which it stands. */
function requireDisjoint(ordered: readonly LineEdit[]): void {
  for (const [i, next] of ordered.entries()) {
    const previous = ordered[i - 1];
    if (!previous || next.from >= Math.max(previous.until, previous.from + 1)) continue;

    const [one, other] = [previous.op, next.op].sort((a, b) => a.number - b.number);
    throw errors.fail('C210', { problem: `${nameOf(one!)} and ${nameOf(other!)} overlap` });
  }
}

function nameOf(op: Numbered<LineOp>): string {
  const lines = op.op === 'insert' ? `at ${op.at_line}` : `${op.from_line}-${op.to_line}`;
  return `op ${op.number} (${op.op} ${lines})`;
}

/** Each new line ends as the line at its place did; those beyond end as the last of these. */
function spell(lines: readonly string[], body: Buffer, { start, end }: ByteRange): Buffer {
  let text = '';
  let next = lineEnd(body, start);
  let ending = lineEnding(body, start);
  for (const line of lines) {
    text += line + ending;
    if (next >= end) continue;
    ending = lineEnding(body, next);
    next = lineEnd(body, next);
  }
  return Buffer.from(text);
}

class Assembly {
  readonly #pieces: Buffer[];
  readonly #sites: Site[] = [];
  #length: number;
  #isLineOpen = false;

  constructor(bom: Buffer) {
    this.#pieces = [bom];
    this.#length = bom.length;
  }

  /** Adds bytes, made by an operation when its number is given. */
  push(bytes: Buffer, op?: number): void {
    if (op !== undefined) this.#sites.push({ op, start: this.#length, end: this.#length + bytes.length });
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    this.#isLineOpen = !endsWithNewline(bytes);
  }

  /** Ends a last line that has no newline, so that others can follow. */
  closeLine(ending: string): void {
    if (this.#isLineOpen) this.push(Buffer.from(ending));
  }

  finish({ withNewline }: { withNewline: boolean }): Edited {
    const whole = Buffer.concat(this.#pieces, this.#length);
    const text = withNewline || this.#isLineOpen ? whole : chomp(whole);
    const clamp = (at: number) => Math.min(at, text.length);
    return { text, sites: this.#sites.map(({ op, start, end }) => ({ op, start: clamp(start), end: clamp(end) })) };
  }
}
