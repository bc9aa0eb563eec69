/** Colours for terminals that want them: none in a pipe, with `NO_COLOR` set, or where TERM says `dumb`. */
const CODES = { bold: 1, red: 31, green: 32, yellow: 33, dim: 2 } as const;

export type Colour = keyof typeof CODES;
export type Paint = (colour: Colour | undefined, text: string) => string;

/** Paints for this stream. The text must be free of control characters already. */
export function painter(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): Paint {
  const isColoured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return (colour, text) => (isColoured && colour && text !== '' ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text);
}

const GOOD = /^(ok|running|ready)$/;
const BAD = /^(fail|failed|error|timed_out)$/;
const DOUBTFUL = /^(warn|killed|skip|skipped)$/;

/** The colour of a word that is the state of something. */
export function colourOfState(word: string): Colour | undefined {
  if (GOOD.test(word)) return 'green';
  if (BAD.test(word)) return 'red';
  return DOUBTFUL.test(word) ? 'yellow' : undefined;
}
