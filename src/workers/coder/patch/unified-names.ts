/** Parses file names in unified diffs: quoted by git, and with `a/` and `b/` prefixes. */
import { isUtf8 } from 'node:buffer';

import { badLine } from './patch.ts';

/** Name of a side without a file. */
const NOTHING = '/dev/null';

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** `a/` and `b/`, and the letters that git writes with `diff.mnemonicPrefix`. */
const PREFIX = /^[abciow]\//;

/** The names after `--- ` and `+++ `; undefined for a side without a file. */
export function sidesOf(old: string, made: string, index: number): { old?: string; made?: string } {
  const names = [nameOf(old, index), nameOf(made, index + 1)];
  const [oldName, madeName] = withoutPrefixes(names[0]!, names[1]!);
  return {
    ...(oldName !== NOTHING && { old: oldName }),
    ...(madeName !== NOTHING && { made: madeName }),
  };
}

/** The name after `diff --git `, if both sides have the same; different ones also come in other headers. */
export function sharedName(text: string, index: number): string | undefined {
  const [, quotedOld, quotedMade] = /^("(?:\\.|[^"\\])*") ("(?:\\.|[^"\\])*")$/.exec(text) ?? [];
  const half = (text.length - 1) / 2;
  const [old, made] =
    quotedOld === undefined
      ? withoutPrefixes(text.slice(0, half), text.slice(half + 1))
      : withoutPrefixes(unquote(quotedOld, index), unquote(quotedMade!, index));
  return old === made ? old : undefined;
}

/** Parses a name as git writes it; drops the time that `diff` adds after a tab. */
export function nameOf(text: string, index: number): string {
  return text.startsWith('"') ? unquote(text.trimEnd(), index) : text.replace(/\t.*$/, '').trimEnd();
}

/** Removes the prefixes, if both sides have one and they differ. */
function withoutPrefixes(old: string, made: string): [string, string] {
  const isMissing = [old, made].map((name) => name === NOTHING);
  const hasPrefix = [old, made].map((name, i) => isMissing[i] === true || PREFIX.test(name));
  const areTwo = isMissing.includes(true) || old[0] !== made[0];
  if (hasPrefix.includes(false) || !areTwo) return [old, made];
  return [isMissing[0] ? old : old.slice(2), isMissing[1] ? made : made.slice(2)];
}

function unquote(text: string, index: number): string {
  const [, body] = /^"((?:\\.|[^"\\])*)"$/.exec(text) ?? [];
  if (body === undefined) throw badLine(index, `${text} is not a quoted name`);

  const bytes: Buffer[] = [];
  for (const [part] of body.matchAll(/\\[0-7]{1,3}|\\.|[^\\]+/g)) bytes.push(unescapePart(part, index));
  const name = Buffer.concat(bytes);
  if (!isUtf8(name)) throw badLine(index, `${text} is not a name in UTF-8`);
  return name.toString();
}

function unescapePart(part: string, index: number): Buffer {
  if (!part.startsWith('\\')) return Buffer.from(part);
  const byte = /^\d/.test(part.slice(1)) ? Number.parseInt(part.slice(1), 8) : ESCAPES[part.slice(1)];
  if (byte === undefined || byte > 255) throw badLine(index, `${part} is not an escape in a quoted name`);
  return Buffer.from([byte]);
}
