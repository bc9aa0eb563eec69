/**
 * Applies line operations to the bytes of a text, all at once.
 *
 * Line numbers are those of the original text, so operations may not overlap. Bytes outside the named lines stay as
 * they are: a new line ends like the line that it replaces or precedes, and the text ends with a newline afterwards if
 * it did before. A byte order mark is not part of the first line.
 */
import type { CallScope } from '#contract';
import { chomp, countLines, endsWithNewline, lineEnd, lineEnding, locateLines, takeTurn, type ByteRange } from '#host';
import type { EditMemory } from './edit-memory.ts';
import { errors } from './errors.ts';

export type LineOp =
  | { op: 'insert'; at_line: number; content: string }
  | { op: 'remove'; from_line: number; to_line: number }
  | { op: 'update_lines'; from_line: number; to_line: number; content: string };

/** An operation with its number in the request, from 1. */
export type Numbered<Op> = Op & { number: number };

/** A change that an operation made in a text. */
export interface Site extends ByteRange {
  /** The number of the operation. */
  op: number;
}

export interface Edited {
  text: Buffer;
  /** Changed sites in text order. */
  sites: Site[];
}

/** Replaces the lines from `from` on and before `until`. */
interface LineEdit {
  op: Numbered<LineOp>;
  from: number;
  until: number;
  /** A final newline adds no line; content without any byte is zero lines. */
  content: Buffer;
}

interface Scope {
  readonly call: Pick<CallScope, 'signal'>;
  /** Memory for the new text. */
  readonly memory?: EditMemory;
}

const BOM = Buffer.from('\uFEFF');
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Each batch takes some milliseconds. */
const EDITS_AT_ONCE = 1000;
const LINES_AT_ONCE = 10_000;

/** Throws C210 for lines that the text does not have, and for operations that overlap. */
export async function applyLineOps(text: Buffer, ops: readonly Numbered<LineOp>[], scope: Scope): Promise<Edited> {
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
  for (const [i, { op, from, until, content }] of edits.entries()) {
    if (i % EDITS_AT_ONCE === EDITS_AT_ONCE - 1) await takeTurn(scope.call);
    const range = { start: starts.get(from)!, end: starts.get(until)! };
    result.push(body.subarray(done, range.start));
    if (content.length > 0) result.closeLine(lineEnding(body, range.start));
    result.push(await spell(content, body, range, scope), op.number);
    done = range.end;
  }
  result.push(body.subarray(done));
  return result.finish({ withNewline: endsWithNewline(body), memory: scope.memory });
}

function toEdit(op: Numbered<LineOp>, { hasBom }: { hasBom: boolean }): LineEdit {
  const from = op.op === 'insert' ? op.at_line : op.from_line;
  const until = op.op === 'insert' ? from : op.to_line + 1;
  const content = op.op === 'remove' ? '' : op.content;
  // A byte order mark stays before the first line; one in a new first line would be a second mark.
  const isSecond = hasBom && from === 1 && content.startsWith('\uFEFF');
  return { op, from, until, content: Buffer.from(isSecond ? content.slice(1) : content) };
}

function requireLines({ op, from, until }: LineEdit, count: number): void {
  const isInsert = op.op === 'insert';
  const isInText = from >= 1 && until <= count + 1 && (isInsert || from < until);
  if (isInText) return;

  const allowed = isInsert ? `at_line may be 1 to ${count + 1}` : `1 <= from_line <= to_line <= ${count} must hold`;
  throw errors.fail('C210', { problem: `${nameOf(op)} does not fit: the file has ${count} lines, so ${allowed}` });
}

/** An insertion counts as an edit of the line that follows it. */
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

/** Each new line ends like the line at its position did; further ones end like the last of these. */
function spell(content: Buffer, body: Buffer, range: ByteRange, scope: Scope): Buffer | Promise<Buffer> {
  if (content.length === 0) return content;

  const old = body.subarray(range.start, range.end);
  const isPlain = lineEnding(body, range.start) === '\n' && !old.includes(CARRIAGE_RETURN);
  if (!isPlain || content.includes(CARRIAGE_RETURN)) return spellEach(content, body, range, scope);
  return endsWithNewline(content) ? content : Buffer.concat([content, Buffer.from('\n')]);
}

async function spellEach(content: Buffer, body: Buffer, { start, end }: ByteRange, scope: Scope): Promise<Buffer> {
  // A line grows by at most one byte, or two when it came without its newline.
  const spelled = Buffer.allocUnsafe(content.length + countLines(content) + 1);
  let [from, length] = [0, 0];
  let next = lineEnd(body, start);
  let ending = lineEnding(body, start);
  for (let line = 1; from < content.length; line++) {
    const to = lineEnd(content, from);
    length += content.copy(spelled, length, from, bareEnd(content, from, to));
    length += spelled.write(ending, length, 'latin1');
    from = to;
    if (next < end) {
      ending = lineEnding(body, next);
      next = lineEnd(body, next);
    }
    if (line % LINES_AT_ONCE === 0) await takeTurn(scope.call);
  }
  return spelled.subarray(0, length);
}

/** End of a line without its newline and the carriage returns before it. */
function bareEnd(text: Buffer, from: number, to: number): number {
  let end = text[to - 1] === NEWLINE ? to - 1 : to;
  while (end > from && text[end - 1] === CARRIAGE_RETURN) end--;
  return end;
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

  /** Appends bytes; `op` is the number of the operation that made them. */
  push(bytes: Buffer, op?: number): void {
    if (op !== undefined) this.#sites.push({ op, start: this.#length, end: this.#length + bytes.length });
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    this.#isLineOpen = !endsWithNewline(bytes);
  }

  /** Terminates a last line without newline, so that others can follow. */
  closeLine(ending: string): void {
    if (this.#isLineOpen) this.push(Buffer.from(ending));
  }

  finish({ withNewline, memory }: { withNewline: boolean; memory: EditMemory | undefined }): Edited {
    const whole = memory?.take(this.#length) ?? Buffer.allocUnsafe(this.#length);
    let filled = 0;
    for (const piece of this.#pieces) filled += piece.copy(whole, filled);
    const text = withNewline || this.#isLineOpen ? whole : chomp(whole);
    const clamp = (at: number) => Math.min(at, text.length);
    return { text, sites: this.#sites.map(({ op, start, end }) => ({ op, start: clamp(start), end: clamp(end) })) };
  }
}
