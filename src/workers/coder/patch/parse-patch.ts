/** Parses a patch: removes a heredoc or Markdown fence that some models put around it, and detects V4A or unified. */
import type { Turns } from '#host';
import { parseUnified } from './parse-unified.ts';
import { parseV4a } from './parse-v4a.ts';
import { badLine, quote, signedLines, type Chunk, type Patch, type PatchLines } from './patch.ts';

/** `<<'EOF'`, alone or after a command. */
const HEREDOC = /^(?:\S.*\s)?<<-?\s*(?:(\w+)|'(\w+)'|"(\w+)")$/;
const FENCE = /^```\w*$/;
const UNIFIED = /^(?:diff --git |diff --cc |diff --combined |--- |\+\+\+ |@@ -\d|GIT binary patch)/;

/** Lines searched for the start of a diff: a mail may come before it. */
const MAX_LINES_BEFORE = 10_000;

const BOM = '\uFEFF';

/** Throws C210 with the number of the first invalid line. */
export async function parsePatch(text: string, turns: Turns): Promise<Patch> {
  if (!text.isWellFormed()) throw badLine(0, 'the patch is not Unicode text: it has half a surrogate pair');
  const { lines, withReturn } = await splitLines(text, turns);
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0) throw badLine(0, 'the patch is empty');

  const body = unwrap(lines, first);
  const start = lines[body.from]?.trim() ?? '';
  const isV4a = start === '*** Begin Patch';
  if (!isV4a && !lines.slice(body.from, body.from + MAX_LINES_BEFORE).some((line) => UNIFIED.test(line))) {
    throw badLine(body.from, `a patch begins with "*** Begin Patch", "diff --git" or "--- ", not with ${quote(start)}`);
  }
  const files = await (isV4a ? parseV4a : parseUnified)(lines, body, turns);
  if (files.length === 0) throw badLine(body.from, 'the patch changes nothing');

  const updates = files.filter(({ kind }) => kind === 'update');
  for (const { chunks } of updates) for (const chunk of chunks) refuseUnseen(lines, withReturn, chunk);
  return { lines, withReturn, files };
}

/** `withReturn` contains the indexes of lines that ended with CRLF. */
async function splitLines(text: string, turns: Turns): Promise<{ lines: string[]; withReturn: Set<number> }> {
  const lines: string[] = [];
  const withReturn = new Set<number>();
  for (let at = 0; at <= text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const hasReturn = newline > at && text[newline - 1] === '\r';
    if (hasReturn) withReturn.add(lines.length);
    lines.push(text.slice(at, hasReturn ? end - 1 : end));
    at = end + 1;
    if ((lines.length & 4095) === 0 && turns.isOver) await turns.next();
  }
  // The empty string after the last newline is not a line.
  if (lines.at(-1) === '') lines.pop();
  return { lines, withReturn };
}

/** Range of the patch itself, without a heredoc or a Markdown fence around it. */
function unwrap(lines: PatchLines, first: number): { from: number; until: number } {
  const opening = lines[first]!.trim();
  const heredoc = HEREDOC.exec(opening)
    ?.slice(1)
    .find((word) => word !== undefined);
  const closing = heredoc ?? (FENCE.test(opening) ? '```' : undefined);
  const end = closing === undefined ? -1 : lines.findLastIndex((line) => line.trim() === closing);
  if (end <= first) return { from: first, until: lines.length };
  const from = lines.findIndex((line, i) => i > first && line.trim() !== '');
  return { from, until: end };
}

/**
 * Refuses a chunk that only changes line endings or the byte order mark: a patch keeps both, so the chunk would have no
 * effect and report success.
 */
function refuseUnseen(lines: PatchLines, withReturn: ReadonlySet<number>, chunk: Chunk): void {
  if (withReturn.size > 0 && isOnlyEndings(lines, withReturn, chunk)) {
    throw badLine(chunk.from, 'the chunk changes line endings only, which a patch keeps; rewrite the whole file');
  }
  const first = lines.slice(chunk.from, Math.min(chunk.until, chunk.from + 2));
  const marked = first.filter((line) => line.startsWith(BOM, 1));
  if (marked.length === 1 && !marked[0]!.startsWith(' ') && first.length === 2 && !first[1]!.startsWith(' ')) {
    throw badLine(chunk.from, 'the chunk changes the byte order mark, which a patch keeps; rewrite the whole file');
  }
}

function isOnlyEndings(lines: PatchLines, withReturn: ReadonlySet<number>, chunk: Chunk): boolean {
  const signed = signedLines(lines, chunk);
  const old = signed.filter(({ sign }) => sign !== '+');
  const made = signed.filter(({ sign }) => sign !== '-');
  if (old.length !== made.length || old.some(({ text }, i) => text !== made[i]!.text)) return false;
  return old.some(({ index }, i) => withReturn.has(index) !== withReturn.has(made[i]!.index));
}
