/**
 * Text encodings, by the names that Python and others use for them.
 *
 * Four are Node's own and are read line by line; the others, from iconv-lite, are decoded as a whole, because a newline
 * byte may be part of another character.
 */
import { isAscii, isUtf8 } from 'node:buffer';

import iconv from 'iconv-lite';
import { z } from 'zod';

import { takeTurn } from '#host';

const OWN = {
  'utf-8': { names: ['utf8'], buffer: 'utf8', mayBe: isUtf8, highest: 0x10_ffff },
  ascii: { names: ['ascii', 'usascii'], buffer: 'latin1', mayBe: isAscii, highest: 0x7f },
  'latin-1': { names: ['latin1', 'iso88591', 'l1'], buffer: 'latin1', mayBe: () => true, highest: 0xff },
  'utf-16le': { names: ['utf16le'], buffer: 'utf16le', mayBe: isUtf16, highest: 0x10_ffff },
} as const;

type OwnEncoding = keyof typeof OWN;

/** One of the four, or a name that iconv-lite knows. */
export type Encoding = OwnEncoding | (string & {});

const KNOWN = Object.keys(OWN) as OwnEncoding[];
const WITH_MARK = 'utf-8-sig';
/** Encodings of iconv-lite that are not for text. */
const NOT_OF_TEXT = ['base64', 'hex', 'binary', 'internal', 'utf7imap'];
const DECODED_AT_ONCE_BYTES = 1 << 20;
const REPLACEMENT = '\ufffd';

/** A field that names an encoding. */
export const encodingField = z
  .string()
  .default('utf-8')
  .transform((name, context): Encoding => {
    const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    const own = KNOWN.find((encoding) => (OWN[encoding].names as readonly string[]).includes(plain));
    if (own) return own;
    if (plain === 'utf8sig') return WITH_MARK;
    if (plain !== '' && plain.length <= 40 && !NOT_OF_TEXT.includes(plain) && iconv.encodingExists(plain)) return plain;
    context.addIssue(
      `no encoding ${JSON.stringify(name.slice(0, 40))}; there is ${KNOWN.join(', ')}, utf-16, cp1252, shift_jis, gb18030 and more`,
    );
    return z.NEVER;
  })
  .describe(`Encoding of the text: ${KNOWN.join(', ')}, or another that iconv-lite knows, such as utf-16 or cp1252.`);

/** Whether lines can be found in the raw bytes. */
export function hasPlainLines(encoding: Encoding): encoding is Exclude<OwnEncoding, 'utf-16le'> {
  return encoding !== 'utf-16le' && isOwn(encoding);
}

/** Undefined if the bytes are not valid in this encoding, or binary because of a NUL character. */
export function decodeText(bytes: Buffer, encoding: OwnEncoding): string | undefined {
  const { buffer, mayBe } = OWN[encoding];
  if (!mayBe(bytes)) return undefined;
  // Plain ASCII, the usual case, decodes ten times faster as Latin-1.
  const text = bytes.toString(buffer === 'utf8' && isAscii(bytes) ? 'latin1' : buffer);
  return text.includes('\0') ? undefined : text;
}

/** The same for a whole file in any encoding, in turns, because a large one would block the event loop. */
export async function decodeWhole(
  bytes: Buffer,
  encoding: Encoding,
  scope: { signal: AbortSignal },
): Promise<string | undefined> {
  if (isOwn(encoding)) return decodeText(bytes, encoding);
  if (bytes.length % unitBytes(encoding) !== 0) return undefined;
  const decoder = iconv.getDecoder(iconvName(encoding));
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE_BYTES) {
    parts.push(decoder.write(bytes.subarray(at, at + DECODED_AT_ONCE_BYTES)));
    await takeTurn(scope);
  }
  const text = parts.join('') + (decoder.end() ?? '');
  // Decodes again only if needed: undecodable bytes become replacement characters, but a text may contain those itself.
  const isText = !text.includes(REPLACEMENT) || encodeText(text, encoding)?.equals(bytes) === true;
  return isText && !text.includes('\0') ? text : undefined;
}

/** Whether the bytes would decode as UTF-8. */
export function isUtf8Text(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Undefined when the text has a character that the encoding lacks. */
export function encodeText(text: string, encoding: Encoding): Buffer | undefined {
  if (!isOwn(encoding)) {
    const bytes = iconv.encode(text, iconvName(encoding), { addBOM: encoding === WITH_MARK || undefined });
    return iconv.decode(bytes, iconvName(encoding)) === text ? bytes : undefined;
  }
  const { buffer, highest } = OWN[encoding];
  if (highest <= 0xff) {
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > highest) return undefined;
  }
  return Buffer.from(text, buffer);
}

function isOwn(encoding: Encoding): encoding is OwnEncoding {
  return Object.hasOwn(OWN, encoding);
}

function iconvName(encoding: string): string {
  return encoding === WITH_MARK ? 'utf8' : encoding;
}

/** Bytes per unit: iconv-lite silently drops an incomplete character at the end. */
function unitBytes(encoding: string): number {
  if (encoding.startsWith('utf16') || encoding.startsWith('ucs2')) return 2;
  return encoding.startsWith('utf32') || encoding.startsWith('ucs4') ? 4 : 1;
}

function isUtf16(bytes: Buffer): boolean {
  return bytes.length % 2 === 0;
}
