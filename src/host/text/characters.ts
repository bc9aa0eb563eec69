/** Where UTF-8 text may be cut: between its characters, also among invalid bytes. */

/** The offset itself, or the start of the character that contains it. */
export function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start--) {
    if (!isContinuation(bytes[start]!)) return start;
  }
  // A character has three continuation bytes at most, so the fourth is invalid.
  return at;
}

/** The length without an incomplete last character. */
export function wholeCharacters(bytes: Uint8Array): number {
  const start = characterStart(bytes, bytes.length - 1);
  const first = bytes[start]!;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
