/**
 * Names and paths exactly as the kernel has them: a string with one char per byte.
 *
 * File names need not be UTF-8, so text loses some of them. Compared with `<`, these sort by bytes, which is the order
 * of the contract and not that of JavaScript's UTF-16 text.
 */

declare const isBytes: unique symbol;
export type ByteString = string & { [isBytes]: true };

const ASCII = /^[\x00-\x7f]*$/;

export function toBytes(text: string): ByteString {
  return (ASCII.test(text) ? text : Buffer.from(text).toString('latin1')) as ByteString;
}

/** Bytes that are not UTF-8 become U+FFFD. */
export function toText(bytes: ByteString): string {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}
