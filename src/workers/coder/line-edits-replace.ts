/**
 * A regex replacement in a text, and where it changed something.
 *
 * A replacement gives a new text and a count. For the places, the first of them are made once more between
 * marks; nothing but the places comes from that.
 */
import { compileRegex, parseReplacement, type ByteRange, type Regex } from '#host';
import { errors } from './errors.ts';
import type { Edited, Numbered } from './line-edits.ts';

export interface ReplaceOp {
  op: 'replace';
  pattern: string;
  replacement: string;
  ignore_case: boolean;
  expect_matches?: number;
}

interface Replacement {
  before: ByteRange;
  after: ByteRange;
}

/** Characters that Unicode keeps out of texts. Where one is in a text all the same, places are not told. */
const MARKS = ['\uFDD0', '\uFDD1', '\uFDD2'] as const;
const MARK_BYTES = Buffer.byteLength(MARKS[0]);

/** When there are more, what earlier operations made cannot be followed any further. */
const MAX_TRACED = 1000;

/** Throws C210 when there are not as many matches as expected. */
export function applyReplaceOp({ text, sites }: Edited, op: Numbered<ReplaceOp>): Edited {
  const regex = compileOp(op);
  const { bytes, count } = regex.replaceAll(text, parseReplacement(op.replacement, regex));
  if (op.expect_matches !== undefined && count !== op.expect_matches) {
    const problem = `op ${op.number} (replace) has ${count} matches; expect_matches is ${op.expect_matches}`;
    throw errors.fail('C210', { problem });
  }
  if (count === 0) return { text, sites };

  const replacements = trace(regex, text, op.replacement);
  const followed = count > replacements.length ? [] : sites.map((site) => ({ ...site, ...follow(site, replacements) }));
  const made = replacements.map(({ after }) => ({ op: op.number, ...after }));
  return { text: toBuffer(bytes), sites: [...followed, ...made] };
}

/** The first place where an operation would change something. */
export function findFirst(text: Buffer, op: Numbered<ReplaceOp>): ByteRange | undefined {
  return compileOp(op).find(text);
}

function compileOp({ number, pattern, ignore_case }: Numbered<ReplaceOp>): Regex {
  if (pattern === '') throw errors.fail('C210', { problem: `op ${number} (replace): \`pattern\` must not be empty` });
  return compileRegex(pattern, { ignoreCase: ignore_case });
}

function trace(regex: Regex, text: Buffer, replacement: string): Replacement[] {
  if (MARKS.some((mark) => text.includes(mark) || replacement.includes(mark))) return [];

  const [begin, middle, end] = MARKS;
  const marked = parseReplacement(`${begin}\${0}${middle}${replacement}${end}`, regex);
  const traced = toBuffer(regex.replaceAll(text, marked, { limit: MAX_TRACED }).bytes);

  const replacements: Replacement[] = [];
  let [before, after] = [0, 0];
  let done = 0;
  for (let at = traced.indexOf(begin); at >= 0; at = traced.indexOf(begin, done)) {
    const match = { start: at + MARK_BYTES, end: traced.indexOf(middle, at) };
    const substitute = { start: match.end + MARK_BYTES, end: traced.indexOf(end, match.end) };
    const kept = at - done;
    replacements.push({
      before: span(before + kept, match),
      after: span(after + kept, substitute),
    });
    before += kept + match.end - match.start;
    after += kept + substitute.end - substitute.start;
    done = substitute.end + MARK_BYTES;
  }
  return replacements;
}

function span(start: number, { start: from, end }: ByteRange): ByteRange {
  return { start, end: start + end - from };
}

/** Where a range of the text is after the replacements; one that reaches into a match takes in what replaced it. */
function follow({ start, end }: ByteRange, replacements: readonly Replacement[]): ByteRange {
  return { start: moved(start, 'start', replacements), end: moved(end, 'end', replacements) };
}

function moved(at: number, edge: keyof ByteRange, replacements: readonly Replacement[]): number {
  const last = replacements.findLast(({ before }) => before.start < at);
  if (!last) return at;
  return at < last.before.end ? last.after[edge] : at + last.after.end - last.before.end;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
