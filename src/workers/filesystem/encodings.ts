/** The encodings that texts may have, by the names that Python and others use for them. */
import { isAscii, isUtf8 } from 'node:buffer';
import { z } from 'zod';

const ENCODINGS = {
  'utf-8': { names: ['utf8'], buffer: 'utf8', mayBe: isUtf8, highest: 0x10_ffff },
  ascii: { names: ['ascii', 'usascii'], buffer: 'latin1', mayBe: isAscii, highest: 0x7f },
  'latin-1': { names: ['latin1', 'iso88591', 'l1'], buffer: 'latin1', mayBe: () => true, highest: 0xff },
  'utf-16le': { names: ['utf16le'], buffer: 'utf16le', mayBe: isUtf16, highest: 0x10_ffff },
} as const;

export type Encoding = keyof typeof ENCODINGS;

const KNOWN = Object.keys(ENCODINGS) as Encoding[];

/** A field that names an encoding. */
export const encodingField = z
  .string()
  .default('utf-8')
  .transform((name, context) => {
    const plain = name.toLowerCase().replaceAll(/[-_ ]/g, '');
    const known = KNOWN.find((encoding) => (ENCODINGS[encoding].names as readonly string[]).includes(plain));
    if (known) return known;
    context.addIssue(`no encoding ${JSON.stringify(name.slice(0, 40))}; there is ${KNOWN.join(', ')}`);
    return z.NEVER;
  })
  .describe(`Encoding of the text: ${KNOWN.join(', ')}.`);

/** Undefined when the bytes are not text in this encoding; with a NUL character they are data. */
export function decodeText(bytes: Buffer, encoding: Encoding): string | undefined {
  const { buffer, mayBe } = ENCODINGS[encoding];
  if (!mayBe(bytes)) return undefined;
  // Plain ASCII, the usual case, decodes ten times faster as Latin-1.
  const text = bytes.toString(buffer === 'utf8' && isAscii(bytes) ? 'latin1' : buffer);
  return text.includes('\0') ? undefined : text;
}

/** Whether the bytes would decode as UTF-8. */
export function isUtf8Text(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Undefined when the text has a character that the encoding lacks. */
export function encodeText(text: string, encoding: Encoding): Buffer | undefined {
  const { buffer, highest } = ENCODINGS[encoding];
  if (highest <= 0xff) {
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > highest) return undefined;
  }
  return Buffer.from(text, buffer);
}

function isUtf16(bytes: Buffer): boolean {
  return bytes.length % 2 === 0;
}
