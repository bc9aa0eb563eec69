/**
 * A value of any size as a little JSON that can be kept and shown: long texts and lists cut, secrets masked.
 *
 * It costs what is kept, not what came: of a list of a million items only the first ones are looked at. What stands
 * under the name of a secret is masked, and so is every value of an environment; a secret inside a command line is not
 * known for one.
 */

export interface Clipped {
  json: Buffer;
  isCut: boolean;
  isMasked: boolean;
}

/** Characters kept of one value, and of one text in it, so that what stands beside a long text is seen too. */
export const MAX_KEPT_CHARS = 65_536;
export const MAX_TEXT_CHARS = 32_768;
/** Deeper than people read; it also ends circles, which a caller in this process could send. */
const MAX_DEPTH = 64;
/** What a value counts beside its characters. */
const SCALAR_CHARS = 8;

const MASK = '•••';
const SECRET_NAME =
  /(?:token|secret|passw(?:or)?d|passphrase|authorization|credentials?|cookie|(?:access|api|private)key)$/;
const ENVIRONMENT_NAME = /^env(?:ironment)?$/;

type Place = 'open' | 'environment';

export function clipJson(value: unknown): Clipped {
  const clip = new Clip();
  const json = Buffer.from(JSON.stringify(clip.take(value, 'open', 0)) ?? 'null');
  return { json, isCut: clip.isCut, isMasked: clip.isMasked };
}

class Clip {
  isCut = false;
  isMasked = false;
  #left = MAX_KEPT_CHARS;

  take(value: unknown, place: Place, depth: number): unknown {
    this.#left -= SCALAR_CHARS;
    if (typeof value === 'string') return this.#text(place === 'environment' ? this.#variable(value) : value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return this.#cut('…');
    if (spellsItself(value)) return this.take(value.toJSON(), place, depth + 1);
    return Array.isArray(value) ? this.#list(value, place, depth) : this.#members(value, place, depth);
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(MAX_TEXT_CHARS, this.#left));
    this.#left -= Math.min(text.length, most);
    return text.length > most ? this.#cut(`${text.slice(0, most)}… (${text.length - most} more characters)`) : text;
  }

  #list(items: unknown[], place: Place, depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      if (this.#left <= 0) return this.#cut([...kept, `… (${items.length - kept.length} more)`]);
      kept.push(this.take(item, place, depth + 1));
    }
    return kept;
  }

  #members(value: object, place: Place, depth: number): object {
    const kept: [string, unknown][] = [];
    const names = Object.keys(value);
    for (const name of names) {
      if (this.#left <= 0) {
        this.#cut(undefined);
        return Object.fromEntries([...kept, ['…', `${names.length - kept.length} more fields`]]);
      }
      this.#left -= name.length;
      kept.push([name, this.#member(name, (value as Record<string, unknown>)[name], place, depth)]);
    }
    return Object.fromEntries(kept);
  }

  #member(name: string, value: unknown, place: Place, depth: number): unknown {
    const plain = name.toLowerCase().replaceAll(/[_-]/g, '');
    const isNothing = value == null || value === '' || typeof value === 'boolean';
    if (!isNothing && (SECRET_NAME.test(plain) || (place === 'environment' && typeof value !== 'object'))) {
      return this.#mask();
    }
    return this.take(value, ENVIRONMENT_NAME.test(plain) ? 'environment' : place, depth + 1);
  }

  /** `NAME=value` as some programs list them. */
  #variable(text: string): string {
    const at = text.indexOf('=');
    return at < 0 ? text : text.slice(0, at + 1) + this.#mask();
  }

  #mask(): string {
    this.isMasked = true;
    return MASK;
  }

  #cut<T>(value: T): T {
    this.isCut = true;
    return value;
  }
}

/** A date, for one, in a frame that never was JSON. */
function spellsItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
