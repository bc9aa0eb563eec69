/** What differs between two texts, line by line: the longest common run stays, the rest was taken and put. */

export interface DiffLine {
  sign: ' ' | '+' | '-';
  text: string;
  /** Where the line is in the file, after the change. */
  number?: number;
  /** What was there is not known; the text says where it was. */
  isUntold?: true;
}

/** Above this many pairs of lines nothing common is looked for between the first and the last difference. */
const MAX_PAIRS = 1_000_000;

/** The lines of a text; a newline at the end adds none. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Lines that are there afterwards are numbered when the number of the first is given. */
export function diffLines(before: string[], after: string[], first?: number): DiffLine[] {
  const head = commonHead(before, after);
  const tail = commonHead(before.slice(head).toReversed(), after.slice(head).toReversed());
  const middle = diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const lines: DiffLine[] = [
    ...after.slice(0, head).map(unchanged),
    ...middle,
    ...after.slice(after.length - tail).map(unchanged),
  ];
  return first === undefined ? lines : numbered(lines, first);
}

function commonHead(a: string[], b: string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function diffMiddle(before: string[], after: string[]): DiffLine[] {
  const taken = (text: string): DiffLine => ({ sign: '-', text });
  const put = (text: string): DiffLine => ({ sign: '+', text });
  if (before.length * after.length > MAX_PAIRS) return [...before.map(taken), ...after.map(put)];

  const lengths = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(unchanged(after[j]!));
      [i, j] = [i + 1, j + 1];
    } else if (i < before.length && (j === after.length || lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      lines.push(taken(before[i++]!));
    } else {
      lines.push(put(after[j++]!));
    }
  }
  return lines;
}

/** How many lines the rests of both have in common, from each pair of places on. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row, below] = [lengths[i]!, lengths[i + 1]!];
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] = before[i] === after[j] ? below[j + 1]! + 1 : Math.max(below[j]!, row[j + 1]!);
    }
  }
  return lengths;
}

function numbered(lines: DiffLine[], first: number): DiffLine[] {
  let next = first;
  return lines.map((line) => (line.sign === '-' ? line : { ...line, number: next++ }));
}

function unchanged(text: string): DiffLine {
  return { sign: ' ', text };
}
