/** A text as valid UTF-8: itself, or a copy after it with U+FFFD for invalid bytes. */
import { isUtf8 } from 'node:buffer';

import type { TextRange } from './lines.ts';
import type { TextMemory } from './text-memory.ts';

const GAP_BYTES = 64;

/** The copy is valid until another text is put into the memory. */
export function asUtf8(memory: TextMemory, text: TextRange): TextRange {
  const bytes = memory.buffer.subarray(text.start, text.end);
  if (isUtf8(bytes)) return text;

  const copy = Buffer.from(bytes.toString());
  const start = memory.freeFrom(text.end) + GAP_BYTES;
  memory.reserve(start + copy.length);
  memory.buffer.set(copy, start);
  return { start, end: start + copy.length };
}
