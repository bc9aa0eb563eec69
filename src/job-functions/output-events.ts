/**
 * Output as events of a call, for callers that watch it while it runs.
 *
 * Events are reports: a slow watcher misses some and detects that by `offset`. Their rate is limited, so that a flood
 * costs the server little; bytes that the ring dropped meanwhile are reported as lost.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import type { OutputRing } from '#host';
import { readText, type OutputText } from './output-text.ts';
import { stripAnsi } from './strip-ansi.ts';

const SPACE_MS = 10;
const MAX_BYTES = 65_536;
const MAX_LINE_CHARS = 200;

export const OutputEvent = z.object({
  type: z.literal('output'),
  stream: z.enum(['stdout', 'stderr']),
  text: z.string().describe('Invalid UTF-8 becomes U+FFFD.'),
  offset: wire.uint64().describe('Offset of the next output, in bytes; pass it as `since` to continue there.'),
  lost: wire.uint64().optional().describe('Bytes before this text that were dropped.'),
  message: z.string().optional().describe('The last line of the text.'),
});

export class OutputEvents implements Disposable {
  readonly #ring: OutputRing;
  readonly #emit: NonNullable<CallScope['emit']>;
  readonly #stop: () => void;
  #next: number;
  #timer: NodeJS.Timeout | undefined;

  /** Undefined for a caller that asked for no events. */
  static open(ring: OutputRing, since: number, { emit }: CallScope): OutputEvents | undefined {
    return emit && new OutputEvents(ring, since, emit);
  }

  private constructor(ring: OutputRing, since: number, emit: NonNullable<CallScope['emit']>) {
    this.#ring = ring;
    this.#emit = emit;
    this.#next = since;
    this.#stop = ring.onChange(() => this.#report());
    this.#report();
  }

  /** Reports all output so far. */
  flush(): void {
    while (this.#step());
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#stop();
  }

  #report(): void {
    if (this.#timer !== undefined || !this.#step()) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#report();
    }, SPACE_MS);
  }

  /** Returns whether there was new output. */
  #step(): boolean {
    const since = this.#next;
    const { from, next, pieces } = readText(this.#ring, { since, maxBytes: MAX_BYTES });
    if (next === since) return false;
    this.#next = next;
    for (const [index, piece] of pieces.entries()) this.#emit(eventOf(piece, index === 0 ? from - since : 0));
    return true;
  }
}

function eventOf({ stream, text, next }: OutputText['pieces'][number], lost: number): z.output<typeof OutputEvent> {
  const message = lastLine(text);
  return {
    ...{ type: 'output' as const, stream, text, offset: next },
    ...(lost > 0 && { lost }),
    ...(message !== undefined && { message }),
  };
}

function lastLine(text: string): string | undefined {
  const lines = stripAnsi(text.slice(-4096)).split(/[\r\n]+/);
  return lines.findLast((line) => line.trim() !== '')?.slice(-MAX_LINE_CHARS);
}
