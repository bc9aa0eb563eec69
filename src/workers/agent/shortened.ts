/**
 * Output that is too long for a reply: its head, the lines that look like failures, and its tail.
 *
 * The full output is stored under a handle, so that the caller can search it instead of running the command again.
 */
import { clipLine } from './text-lines.ts';

/** Words by which test runners, compilers and interpreters begin an error. */
const FAILURE =
  /(?:^|[\s[(])(?:not ok|FAIL(?:ED|URE)?S?|ERRORS?|error(?:\[\w+\])?:|[\w.]*(?:Error|Exception|Failure)\b|panicked|Traceback|fatal:|✖|✗|✘|×|❌)(?=\W|$)|^E {3}|^(?:\w+(?:\[\d+\])?: )?\*\*\* /;
/** Lines of a summary that report no failures. */
const NONE = /\b(?:0|no) (?:errors?|fail(?:ed|ures?)?)\b|\b(?:errors?|failures?|failed|fail)[:=]? 0\b/i;

const MAX_FAILURES = 25;
const FAILURE_CHARS = 160;
/** Shares of the reply, and most lines: short lines cost a model as much as long ones. */
const HEAD = { share: 0.05, lines: 12 };
const TAIL = { share: 0.14, lines: 24 };

export interface Shortening {
  readonly maxChars: number;
  /** Stores the full text and returns its handle; called only if something is left out. */
  readonly keep: () => string;
}

export function shortened(text: string, { maxChars, keep }: Shortening): string {
  const whole = text.trimEnd();
  if (whole.length <= maxChars) return whole;

  const lines = whole.split('\n');
  const head = taken(lines.slice(0, HEAD.lines), maxChars * HEAD.share);
  const rest = lines.slice(Math.max(head.length, lines.length - TAIL.lines));
  const tail = taken(rest.toReversed(), maxChars * TAIL.share).toReversed();
  const end = lines.length - tail.length;
  const failures = failureLines(lines, head.length, end);
  const hidden = end - head.length;
  return [
    ...head,
    `… ${hidden} of ${lines.length} lines not shown; output {"id": "${keep()}"} with grep, from or tail has them`,
    ...(failures.length > 0 ? ['lines that look like failures:', ...failures, '…'] : []),
    ...tail,
  ].join('\n');
}

/** The lines that fit; if even the first does not, its beginning. */
function taken(lines: readonly string[], chars: number): string[] {
  const some: string[] = [];
  let left = Math.floor(chars);
  for (const line of lines) {
    left -= line.length + 1;
    if (left < 0) break;
    some.push(line);
  }
  return some.length === 0 && lines.length > 0 ? [clipLine(lines[0]!, Math.floor(chars))] : some;
}

/** The lines that look like failures, such as `1042: not ok 12 - name`; a repeated text is shown once. */
function failureLines(lines: readonly string[], from: number, until: number): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  let more = 0;
  for (let at = from; at < until; at++) {
    const line = lines[at]!;
    const start = line.slice(0, 400);
    if (!FAILURE.test(start) || NONE.test(start)) continue;
    const text = start.trim();
    if (seen.has(text)) continue;
    seen.add(text);
    if (found.length === MAX_FAILURES) more++;
    else found.push(`${at + 1}: ${clipLine(text, FAILURE_CHARS)}`);
  }
  return more > 0 ? [...found, `(${more} more such lines)`] : found;
}
