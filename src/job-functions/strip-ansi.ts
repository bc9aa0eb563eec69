/** Removes what colours text and moves the cursor of a terminal, for readers that are not one. */

/** Control sequences, strings up to their terminator, and short sequences. Newlines stay, so that lines stay lines. */
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)$/;
/** A longer one is taken for text. */
const MAX_SEQUENCE = 256;

export function stripAnsi(text: string): string {
  return text.includes('\x1b') ? text.replace(SEQUENCE, '') : text;
}

/** Where a sequence begins whose end has not come yet; the length of the text if there is none. */
export function unfinishedSequenceAt(text: string): number {
  const tail = text.slice(-MAX_SEQUENCE);
  const found = UNFINISHED.exec(tail);
  return found ? text.length - tail.length + found.index : text.length;
}
