/** A text of a peer as lists and logs show it: of bounded length, without misleading characters. */

const MAX_TEXT = 280;
// Control, bidirectional and other invisible characters can make a list show something else than it contains.
const INVISIBLE = /[\p{Cc}\p{Cf}]/gu;

export function cleanText(text: string, most = MAX_TEXT): string {
  // Invisible characters beyond this are not worth scanning past.
  const shown = text
    .slice(0, 4 * most)
    .replace(INVISIBLE, '')
    .slice(0, most);
  // A copy: a slice would keep the whole text in memory.
  return Buffer.from(shown, 'utf16le').toString('utf16le');
}
