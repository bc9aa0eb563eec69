/**
 * The arguments of a call as the audit shows them: the subject of the call, never the content of files.
 *
 * Only strings at fields that a function declares as paths or command are shown, and its `args`; of every other string
 * its length. Values of the server's own secret variables are masked wherever they occur.
 */
import { isMap, type Subject } from '#contract';

const MOST_CHARS = 400;
const MOST_ITEMS = 20;
const DEEPEST = 4;
/** Shorter values are found in ordinary words. */
const SHORTEST_SECRET = 6;
const SECRET_NAME = /(token|secret|password|passwd|api_?key|private_?key|credential|auth)/i;

/** Fields beside those that a function declares. */
const SHOWN = new Set(['args', 'script', 'change', 'job_id', 'sandbox_id', 'name', 'label', 'namespace', 'image']);

/** The fields of a function's requests whose strings are shown. */
export function shownFields(subject: Subject | undefined): ReadonlySet<string> {
  const { opaque: _, ...fields } = subject ?? {};
  const declared = Object.values(fields).flat();
  // Only the names count: a field is shown at any depth.
  return new Set([...SHOWN, ...declared.flatMap((field) => field.replaceAll('[]', '').split('.'))]);
}

export class Mask {
  #secrets: readonly string[] = [];

  constructor(env: NodeJS.ProcessEnv, more: readonly string[] = []) {
    const own = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) && value ? [value] : []));
    this.add([...own, ...more]);
  }

  add(secrets: readonly string[]): void {
    // The longest first, or the rest of it would show.
    this.#secrets = [...new Set([...this.#secrets, ...secrets])]
      .filter(({ length }) => length >= SHORTEST_SECRET)
      .toSorted((a, b) => b.length - a.length);
  }

  arguments(payload: unknown, shown: ReadonlySet<string>): unknown {
    return this.#value(payload, { shown, isShown: false, depth: 0 });
  }

  text(text: string): string {
    const masked = this.#secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
    return masked.length > MOST_CHARS ? `${masked.slice(0, MOST_CHARS)}… (${masked.length} characters)` : masked;
  }

  #value(value: unknown, at: { shown: ReadonlySet<string>; isShown: boolean; depth: number }): unknown {
    if (typeof value === 'string') return at.isShown ? this.text(value) : `(${value.length} characters)`;
    if (typeof value !== 'object' || value === null) return value;
    if (at.depth >= DEEPEST) return '(more)';
    const depth = at.depth + 1;
    if (Array.isArray(value)) {
      const items = value.slice(0, MOST_ITEMS).map((item) => this.#value(item, { ...at, depth }));
      return value.length > MOST_ITEMS ? [...items, `(${value.length - MOST_ITEMS} more)`] : items;
    }
    if (!isMap(value)) return '(more)';
    const entries = Object.entries(value)
      .slice(0, MOST_ITEMS)
      .map(([key, item]) => [this.text(key), this.#value(item, { ...at, isShown: at.shown.has(key), depth })]);
    return Object.fromEntries(entries);
  }
}
