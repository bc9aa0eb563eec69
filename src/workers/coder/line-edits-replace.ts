/** Applies a regex replacement to a text, and updates the positions of earlier changes. */
import type { CallScope } from '#contract';
import type { ByteRange, RegexThreads, ReplacedText } from '#host';
import { errors } from './errors.ts';
import { MAX_SITES_PER_OP } from './line-edits-regions.ts';
import type { Edited, Numbered } from './line-edits.ts';

export interface ReplaceOp {
  op: 'replace';
  pattern: string;
  replacement: string;
  ignore_case: boolean;
  expect_matches?: number;
  must_match?: boolean;
}

/** The regex threads, and the call that waits for them. */
export interface Replacing {
  readonly regexes: RegexThreads;
  readonly call: Pick<CallScope, 'signal' | 'door'> & { readonly timeoutMs?: number };
}

export interface Replaced extends Edited {
  /** Number of replaced matches. */
  count: number;
}

/** Tracked changes; with more replacements, earlier ones are dropped. */
const MAX_SPANS = 1000;

type Spans = ReplacedText['spans'];

/** Throws C210 when the number of matches is not the expected one. For a model the default is one. */
export async function applyReplaceOp(
  { text, sites }: Edited,
  op: Numbered<ReplaceOp>,
  { regexes, call }: Replacing,
): Promise<Replaced> {
  const { replacement } = op;
  const task = { ...searchFor(op, text), replacement, maxSpans: MAX_SPANS };
  const { bytes, count, spans } = await regexes.replace(task, call);
  if (op.expect_matches !== undefined && count !== op.expect_matches) {
    const problem = `op ${op.number} (replace) has ${count} matches; expect_matches is ${op.expect_matches}`;
    throw errors.fail('C210', { problem });
  }
  if (count === 0 && (op.must_match ?? (op.expect_matches === undefined && call.door === 'model'))) {
    const problem = `op ${op.number} (replace) has no match for ${JSON.stringify(op.pattern.slice(0, 200))}, so the file was not changed`;
    throw errors.fail('C210', { problem: `${problem}; read the file for its text, or set must_match: false` });
  }
  if (count === 0) return { text, sites, count };

  const followed = count > spans.length ? [] : sites.map((site) => ({ ...site, ...follow(site, spans) }));
  // Asks for one more than are shown, to detect that there are more.
  const made = spans.slice(0, MAX_SITES_PER_OP + 1).map(({ after }) => ({ op: op.number, ...after }));
  return { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), sites: [...followed, ...made], count };
}

/** The first range that an operation would change. */
export function findFirst(
  text: Buffer,
  op: Numbered<ReplaceOp>,
  { regexes, call }: Replacing,
): Promise<ByteRange | undefined> {
  return regexes.find(searchFor(op, text), call);
}

function searchFor({ number, pattern, ignore_case }: Numbered<ReplaceOp>, text: Buffer) {
  if (pattern === '') throw errors.fail('C210', { problem: `op ${number} (replace): \`pattern\` must not be empty` });
  return { pattern, ignoreCase: ignore_case, text };
}

/** The range after the replacements; a range that overlaps a match is extended to its replacement. */
function follow({ start, end }: ByteRange, spans: Spans): ByteRange {
  return { start: moved(start, 'start', spans), end: moved(end, 'end', spans) };
}

function moved(at: number, edge: keyof ByteRange, spans: Spans): number {
  const last = spans[countBefore(at, spans) - 1];
  if (!last) return at;
  return at < last.before.end ? last.after[edge] : at + last.after.end - last.before.end;
}

/** Number of matches that begin before an offset. */
function countBefore(at: number, spans: Spans): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.before.start < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
