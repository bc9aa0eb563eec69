/**
 * Clips any value to a little JSON that can be stored and shown: long texts and lists truncated, secrets masked.
 *
 * The cost depends on the output, not on the input: of a list of a million items only the first ones are read.
 * A value under or beside the name of a secret is masked, and so is every value of an environment; a secret inside a
 * command line is not recognized.
 */

export interface Clipped {
  json: Buffer;
  isCut: boolean;
  isMasked: boolean;
}

/** Characters kept of one value, and of one text in it, so that values beside a long text are shown too. */
export const MAX_KEPT_CHARS = 65_536;
export const MAX_TEXT_CHARS = 32_768;
/** Deeper than people read; it also ends cycles, which a caller in this process could send. */
const MAX_DEPTH = 64;
/** Characters counted per value beside its text. */
const SCALAR_CHARS = 8;

/** Characters tested for the name of a secret, which is at the end. */
const MAX_NAME_CHARS = 64;
const MAX_NAME_SHOWN = 256;

const MASK = '•••';
const SECRET_NAME =
  /(?:token|secret|passw(?:or)?d|passphrase|authorization|credentials?|cookie|(?:access|api|private)key)$/;
const ENVIRONMENT_NAME = /^env(?:s|vars?|ironment(?:vars?|variables?)?)?$/;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;
/** Base64 text before its padding is not a name. */
const VARIABLE_ENTRY = /^([A-Za-z_]\w*=)(?!=?$)/;

export function clipJson(value: unknown): Clipped {
  const clip = new Clip();
  const json = Buffer.from(JSON.stringify(clip.taken(value)) ?? 'null');
  return { json, isCut: clip.isCut, isMasked: clip.isMasked };
}

class Clip {
  isCut = false;
  isMasked = false;
  #left = MAX_KEPT_CHARS;

  /** Reading may run foreign code, such as a getter, that throws; then nothing of the value is kept. */
  taken(value: unknown): unknown {
    try {
      return this.take(value, 0);
    } catch {
      return this.#cut('…');
    }
  }

  take(value: unknown, depth: number): unknown {
    this.#left -= SCALAR_CHARS;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return this.#cut('…');
    if (spellsItself(value)) return this.take(value.toJSON(), depth + 1);
    const isSecret = isNamedSecret(value);
    if (Array.isArray(value)) {
      return this.#list(value, (item, at) => (isSecret && at === 1 ? this.#hide(item) : this.take(item, depth + 1)));
    }
    return this.#members(value, (name, inner) =>
      isSecret && name === 'value' ? this.#hide(inner) : this.#member(name, inner, depth + 1),
    );
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(MAX_TEXT_CHARS, this.#left));
    this.#left -= Math.min(text.length, most);
    return text.length > most ? this.#cut(`${text.slice(0, most)}… (${text.length - most} more characters)`) : text;
  }

  #list(items: unknown[], keep: (item: unknown, at: number) => unknown): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      if (this.#left <= 0) return this.#cut([...kept, `… (${items.length - kept.length} more)`]);
      kept.push(keep(item, kept.length));
    }
    return kept;
  }

  #members(value: object, keep: (name: string, inner: unknown) => unknown): object {
    const kept: [string, unknown][] = [];
    const names = Object.keys(value);
    for (const name of names) {
      if (this.#left <= 0) {
        this.#cut(undefined);
        return Object.fromEntries([...kept, ['…', `${names.length - kept.length} more fields`]]);
      }
      const shown = name.length > MAX_NAME_SHOWN ? this.#cut(`${name.slice(0, MAX_NAME_SHOWN)}…`) : name;
      this.#left -= shown.length;
      kept.push([shown, keep(name, (value as Record<string, unknown>)[name])]);
    }
    return Object.fromEntries(kept);
  }

  #member(name: string, value: unknown, depth: number): unknown {
    if (isSecretName(name)) return this.#hide(value);
    return ENVIRONMENT_NAME.test(plain(name)) ? this.#environment(value) : this.take(value, depth);
  }

  /** Shows only the names of an environment, whatever its form. */
  #environment(value: unknown): unknown {
    if (Array.isArray(value)) return this.#list(value, (entry) => this.#variable(entry));
    if (!isObject(value)) return this.#hide(value);
    return this.#members(value, (_, inner) => this.#hide(inner));
  }

  /** An item of an environment: `NAME=value`, `[NAME, value]`, or an object with both. */
  #variable(entry: unknown): unknown {
    this.#left -= SCALAR_CHARS;
    if (Array.isArray(entry)) {
      return this.#list(entry, (part, at) => this.#nameOrMask(part, at === 0 && entry.length === 2));
    }
    if (isObject(entry)) {
      const isNamed = 'value' in entry;
      return this.#members(entry, (key, part) => this.#nameOrMask(part, isNamed && (key === 'name' || key === 'key')));
    }
    const [, start] = (typeof entry === 'string' && VARIABLE_ENTRY.exec(entry)) || [];
    return start === undefined ? this.#hide(entry) : this.#text(start) + this.#hide(entry);
  }

  #nameOrMask(part: unknown, isInItsPlace: boolean): unknown {
    return isInItsPlace && typeof part === 'string' && VARIABLE_NAME.test(part) ? this.#text(part) : this.#hide(part);
  }

  /** An empty or boolean value hides nothing. */
  #hide(value: unknown): unknown {
    this.#left -= SCALAR_CHARS;
    if (value == null || value === '' || typeof value === 'boolean') return value;
    this.isMasked = true;
    return MASK;
  }

  #cut<T>(value: T): T {
    this.isCut = true;
    return value;
  }
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Tests only the end of the name: the value may be a long text instead of a name. */
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(plain(name.slice(-MAX_NAME_CHARS)));
}

/** A pair such as the header `['Cookie', …]`, or an object that has the name beside its value. */
function isNamedSecret(value: object): boolean {
  const { name, key } = value as { name?: unknown; key?: unknown };
  const named = Array.isArray(value) ? value.length === 2 && value[0] : (name ?? key);
  return typeof named === 'string' && isSecretName(named);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** True for an object with `toJSON`, such as a date, in a frame that was not parsed from JSON. */
function spellsItself(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
