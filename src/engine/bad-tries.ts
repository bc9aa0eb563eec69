/**
 * Slows down callers that guess tokens.
 *
 * Once an address has sent many bad tokens, every token from it, good or bad, is delayed before it is checked: an
 * answer that came sooner for a good one would reveal it to a guesser that does not wait. Two kinds never wait, so that
 * a guesser locks out no token that is in use: secrets that were accepted before, and secrets of the length that
 * Workcell makes, which cannot be guessed.
 */
import { createHash } from 'node:crypto';

/** Bad tokens of one address in a window, before the next ones wait. */
const FREE_TRIES = 10;
const WINDOW_MS = 60_000;
const WAIT_MS = 1_000;
/** Tokens of one address that wait at the same time; more are refused unchecked. */
const MAX_WAITING = 32;
/** Beyond it the address whose first bad token is oldest is forgotten. */
const MAX_ADDRESSES = 10_000;
const MAX_ACCEPTED = 1_000;
/** `workcell token add` and the operator's key: 256 random bits. */
const MADE_HERE = /^wc[to]_[\w-]{43}$/;

interface Tries {
  bad: number;
  sinceMs: number;
  waiting: number;
}

export class BadTries {
  readonly #byAddress = new Map<string, Tries>();
  /** Hashes, the one that was accepted first in front. */
  readonly #accepted = new Set<string>();

  /** Runs `check` now, or later if the address has to wait; returns false if too many of its tokens wait already. */
  beforeCheck(secret: string | undefined, address: string | undefined, check: () => void): boolean {
    const tries = secret === undefined ? undefined : this.#slowed(networkOf(address));
    if (!tries || MADE_HERE.test(secret!) || this.#accepted.has(hash(secret!))) {
      check();
      return true;
    }
    if (tries.waiting >= MAX_WAITING) return false;
    tries.waiting += 1;
    // Also after its sender disconnected: otherwise disconnecting early would allow faster guesses.
    setTimeout(() => {
      tries.waiting -= 1;
      check();
    }, WAIT_MS).unref();
    return true;
  }

  wasBad(address: string | undefined): void {
    const network = networkOf(address);
    const known = this.#byAddress.get(network);
    const isOver = known !== undefined && Date.now() - known.sinceMs > WINDOW_MS;
    if (known && !isOver) known.bad += 1;
    else this.#byAddress.set(network, { bad: 1, sinceMs: Date.now(), waiting: known?.waiting ?? 0 });
    if (this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(this.#byAddress.keys().next().value!);
  }

  wasGood(secret: string): void {
    if (MADE_HERE.test(secret)) return;
    this.#accepted.add(hash(secret));
    if (this.#accepted.size > MAX_ACCEPTED) this.#accepted.delete(this.#accepted.values().next().value!);
  }

  #slowed(network: string): Tries | undefined {
    const tries = this.#byAddress.get(network);
    return tries && tries.bad >= FREE_TRIES && Date.now() - tries.sinceMs <= WINDOW_MS ? tries : undefined;
  }
}

/** A host usually has a whole /64 network of IPv6, so that counts as one address. */
function networkOf(address = 'unknown'): string {
  if (address.startsWith('::ffff:') || !address.includes(':')) return address.replace('::ffff:', '');
  const [head = '', tail = ''] = address.split('%')[0]!.split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
