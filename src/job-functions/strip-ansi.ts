/** Removes escape sequences for colours and the cursor, for readers without a terminal. */

/** Control sequences, strings up to their terminator, and short sequences. Newlines stay, so that lines stay lines. */
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)$/;
/** A longer sequence counts as text. */
const MAX_SEQUENCE = 256;

export function stripAnsi(text: string): string {
  return text.includes('\x1b') ? text.replace(SEQUENCE, '') : text;
}

/** The start of a sequence that is not complete yet; the length of the text if there is none. */
export function unfinishedSequenceAt(text: string): number {
  const tail = text.slice(-MAX_SEQUENCE);
  const found = UNFINISHED.exec(tail);
  return found ? text.length - tail.length + found.index : text.length;
}
