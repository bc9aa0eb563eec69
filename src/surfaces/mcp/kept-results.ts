/**
 * Results too long for one text, stored for a while so that a client can read the rest in ranges.
 *
 * The URI is the only key to a result, so it cannot be guessed. Space and time are bounded.
 */
import { randomUUID } from 'node:crypto';

const MAX_KEPT_BYTES = 64 * 2 ** 20;
const KEPT_MS = 15 * 60_000;
const MAX_RANGE_BYTES = 64 * 1024;

export const RESULT_TEMPLATE = 'workcell://results/{id}{?from,to}';

interface Kept {
  bytes: Buffer;
  untilMs: number;
}

export class KeptResults {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** The URI of the text; undefined when it is larger than the whole store. */
  keep(text: string): string | undefined {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_KEPT_BYTES) return undefined;

    const id = randomUUID();
    this.#kept.set(id, { bytes, untilMs: Date.now() + KEPT_MS });
    this.#bytes += bytes.length;
    this.#makeRoom();
    return `workcell://results/${id}`;
  }

  /** A part of it, in whole characters; undefined when the result has expired. */
  read(uri: string): { text: string; from: number; to: number; total: number } | undefined {
    const address = URL.canParse(uri) ? new URL(uri) : undefined;
    const kept = address?.host === 'results' ? this.#kept.get(address.pathname.slice(1)) : undefined;
    if (!address || !kept || kept.untilMs < Date.now()) return undefined;

    const { bytes } = kept;
    const from = startOfCharacter(bytes, bound(address.searchParams.get('from'), 0, bytes.length));
    const asked = bound(address.searchParams.get('to'), from + MAX_RANGE_BYTES, bytes.length);
    const to = startOfCharacter(bytes, Math.min(Math.max(asked, from), from + MAX_RANGE_BYTES));
    return { text: bytes.toString('utf8', from, to), from, to, total: bytes.length };
  }

  #makeRoom(): void {
    for (const [id, { bytes, untilMs }] of this.#kept) {
      if (this.#bytes <= MAX_KEPT_BYTES && untilMs > Date.now()) return;
      this.#kept.delete(id);
      this.#bytes -= bytes.length;
    }
  }
}

function bound(text: string | null, fallback: number, limit: number): number {
  const number = text !== null && /^\d{1,12}$/.test(text) ? Number(text) : fallback;
  return Math.min(number, limit);
}

function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}
