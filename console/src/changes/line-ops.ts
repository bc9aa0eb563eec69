/**
 * The operations of coder::update-file as hunks.
 *
 * The reply shows the lines as they are now; which of them are new follows from the operations. Lines that went are
 * known by their numbers only: nobody was told what they held.
 */
import { added, substitutionTitle, type FileChange, type Hunk } from './file-change.ts';
import { linesOf, type DiffLine } from './line-diff.ts';
import { fieldOf, listOf, numberOf, textOf } from './loose-json.ts';

interface Op {
  kind: string;
  /** In the file as it was; the second is behind the last. Both are 0 for a replacement. */
  from: number;
  until: number;
  content: string[];
  pattern: string;
  replacement: string;
  /** Where its lines begin in the file as it is now. */
  now: number;
}

/** As many as the worker shows before and after a change. */
const CONTEXT_LINES = 2;

export function updateChange(file: unknown, result: unknown): FileChange {
  const ops = placed(listOf(file, 'ops').map(readOp));
  const echoes = listOf(result, 'changes');
  const seen = new Set<number>();
  const fromEchoes = echoes.map((echo): Hunk => {
    const number = numberOf(echo, 'op') ?? 0;
    const isFirst = !seen.has(number);
    seen.add(number);
    return echoHunk(echo, ops[number - 1], { isFirst, lineCount: numberOf(result, 'new_line_count') });
  });
  const untold = ops.filter((_, at) => !seen.has(at + 1)).map(bareHunk);
  return {
    path: textOf(file, 'path') ?? '',
    did: fieldOf(result, 'success') === true ? 'edited' : 'asked for',
    hunks: [...fromEchoes, ...untold],
    ...(fieldOf(result, 'changes_truncated') === true && { note: 'not all that changed is in the reply' }),
  };
}

function readOp(op: unknown): Op {
  const kind = textOf(op, 'op') ?? '';
  const from = numberOf(op, 'at_line') ?? numberOf(op, 'from_line') ?? 0;
  return {
    kind,
    from,
    until: kind === 'insert' || kind === 'replace' ? from : (numberOf(op, 'to_line') ?? from) + 1,
    content: linesOf(textOf(op, 'content') ?? ''),
    pattern: textOf(op, 'pattern') ?? '',
    replacement: textOf(op, 'replacement') ?? '',
    now: from,
  };
}

/** Line numbers are those of the file as it was: what stands before an operation has moved it. */
function placed(ops: Op[]): Op[] {
  const moved = (op: Op) =>
    ops
      .filter((other) => other.kind !== 'replace' && other.from < op.from)
      .reduce((sum, { content, from, until }) => sum + content.length - (until - from), 0);
  return ops.map((op) => ({ ...op, now: op.from + moved(op) }));
}

function echoHunk(
  echo: unknown,
  op: Op | undefined,
  { isFirst, lineCount }: { isFirst: boolean; lineCount: number | undefined },
): Hunk {
  const first = numberOf(echo, 'from_line') ?? 1;
  const texts = (textOf(echo, 'content') ?? '').split(/\r?\n/);
  if (!op) return { lines: texts.map((text, at) => ({ sign: ' ', text, number: first + at })) };
  if (op.kind === 'replace') return { title: substitution(op), lines: replacedLines(texts, first, op, lineCount) };

  const start = startOf(op, texts, first);
  const isNew = (at: number) => at >= start && at < start + op.content.length;
  const lines = texts.map((text, at): DiffLine => ({ sign: isNew(at) ? '+' : ' ', text, number: first + at }));
  return { lines: isFirst ? lines.toSpliced(Math.min(start, lines.length), 0, ...goneLines(op)) : lines };
}

/** Where the lines of the operation begin in those shown. A replacement that made lines may have moved them. */
function startOf({ now, content }: Op, texts: string[], first: number): number {
  const fits = (start: number) => content.every((text, at) => start + at >= texts.length || texts[start + at] === text);
  const expected = now - first;
  const nearby = Array.from({ length: CONTEXT_LINES + 1 }, (_, at) => at);
  return [expected, ...nearby].find((start) => start >= 0 && fits(start)) ?? Math.max(0, expected);
}

function goneLines({ from, until }: Op): DiffLine[] {
  if (until <= from) return [];
  const text = until - from === 1 ? `line ${from}` : `lines ${from} to ${until - 1}, ${until - from} of them`;
  return [{ sign: '-', text, isUntold: true }];
}

/** Lines that hold the replacement; where that cannot be told, those that are not there as context only. */
function replacedLines(texts: string[], first: number, op: Op, lineCount: number | undefined): DiffLine[] {
  const words = op.replacement.includes('$') ? [] : linesOf(op.replacement).filter((line) => line.trim() !== '');
  const holds = (text: string) => words.some((word) => text.includes(word));
  const from = first === 1 ? 0 : CONTEXT_LINES;
  const until = first + texts.length - 1 === lineCount ? texts.length : texts.length - CONTEXT_LINES;
  const isKnown = texts.some(holds);
  return texts.map((text, at) => {
    const isNew = isKnown ? holds(text) : at >= from && at < until;
    return { sign: isNew ? '+' : ' ', text, number: first + at };
  });
}

/** An operation of which the reply shows nothing: it failed, runs still, or there was no room. */
function bareHunk(op: Op): Hunk {
  if (op.kind === 'replace') return { title: substitution(op), lines: [] };
  return { lines: [...goneLines(op), ...added(op.content, op.now)] };
}

function substitution({ pattern, replacement }: Op): string {
  return substitutionTitle(`/${pattern}/`, replacement);
}
