/**
 * filesystem::edit and filesystem::insert as hunks, from the text that was asked for and the lines that were answered.
 *
 * With the old text put back in the place of the new one, the lines of the answer are those from before.
 */
import { added, type FileChange, type Hunk } from './file-change.ts';
import { diffLines, linesOf } from './line-diff.ts';
import { fieldOf, numberOf, textOf } from './loose-json.ts';

interface Block {
  first: number;
  lines: string[];
}

const NUMBERED_LINE = /^ *(\d+)│(.*)$/;
/** What changed begins at most this many lines below the first that is shown. */
const CONTEXT_LINES = 2;

export function editChange(payload: unknown, data: unknown): FileChange {
  const [before, after] = [textOf(payload, 'old_string') ?? '', textOf(payload, 'new_string') ?? ''];
  const count = numberOf(data, 'replacements');
  const blocks = blocksOf(textOf(data, 'preview') ?? '');
  const whole = count === 1 && blocks[0] ? wholeLines(blocks[0], before, after) : undefined;
  const plain: Hunk = { lines: diffLines(linesOf(before), linesOf(after)) };
  return {
    path: textOf(data, 'path') ?? textOf(payload, 'path') ?? '',
    did: data === undefined ? 'asked for' : 'edited',
    hunks: [whole ?? plain],
    ...(count !== undefined && count > 1 && { note: `in ${count} places` }),
  };
}

export function insertChange(payload: unknown, data: unknown): FileChange {
  const line = numberOf(payload, 'line') ?? 1;
  const until = line + (numberOf(data, 'lines_inserted') ?? 0);
  const hunks = blocksOf(textOf(data, 'preview') ?? '').map(({ first, lines }): Hunk => ({
    lines: lines.map((text, at) => {
      const number = first + at;
      return { sign: number >= line && number < until ? '+' : ' ', text, number };
    }),
  }));
  return {
    path: textOf(data, 'path') ?? textOf(payload, 'path') ?? '',
    did: fieldOf(data, 'line') === undefined ? 'asked for' : 'edited',
    hunks: hunks.length > 0 ? hunks : [{ lines: added(linesOf(textOf(payload, 'content') ?? ''), line) }],
  };
}

/** The places of a preview, each with the number of its first line. */
function blocksOf(preview: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of preview.split('\n')) {
    const [, number, text = ''] = NUMBERED_LINE.exec(line) ?? [];
    if (number === undefined) {
      open = undefined;
    } else if (open) {
      open.lines.push(text);
    } else {
      open = { first: Number(number), lines: [text] };
      blocks.push(open);
    }
  }
  return blocks;
}

/** Undefined where the new text cannot be found among the lines: it is empty, or too long to be shown. */
function wholeLines({ first, lines }: Block, before: string, after: string): Hunk | undefined {
  const shown = lines.join('\n');
  const isEnded = before.endsWith('\n') && after.endsWith('\n');
  const spelled = (text: string) => text.replaceAll('\r\n', '\n').replace(isEnded ? /\n$/ : '', '');
  const wanted = spelled(after);
  if (wanted === '') return undefined;
  // Where the new text stands more than once, the one in the middle is meant: the others are around it by chance.
  const starts = placesOf(shown, wanted);
  const start = starts.findLast((at) => shown.slice(0, at).split('\n').length - 1 <= CONTEXT_LINES);
  if (start === undefined) return undefined;

  const was = shown.slice(0, start) + spelled(before) + shown.slice(start + wanted.length);
  return { lines: diffLines(was.split('\n'), lines, first) };
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) places.push(at);
  return places;
}
