/**
 * A search split into segments, in path order, each of which may be done by another process.
 *
 * Segments are handed out from the first on, because the answer needs those first, and results are taken in order,
 * whatever order they arrive in. A process may return the part of a segment that it has not searched.
 */
import { splitParts, workOf, type WalkPart } from '../../walk/walk-part.ts';
import { MAX_ANSWER_CHARS, type Findings } from '../findings.ts';

export interface Segment {
  state: 'waiting' | 'given' | 'done';
  parts: readonly WalkPart[];
  /** Estimated work. */
  work: number;
  findings?: Findings;
  /** Whether the main process found a file in it that takes too long. */
  isForWorkers?: boolean;
  next?: Segment;
}

interface WorkBounds {
  readonly maxWork: number;
  readonly shares: number;
}

/** Most text that waits for earlier segments; beyond, only those are searched. */
const MAX_WAITING_CHARS = 2 * MAX_ANSWER_CHARS;

export class Segments {
  #first: Segment | undefined;
  #waitingChars = 0;

  constructor(parts: readonly WalkPart[]) {
    this.#first = waitingFor(parts);
  }

  /** Whether all segments were searched and their findings taken. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** The first waiting segment, without handing it out. */
  get waiting(): Segment | undefined {
    let segment = this.#first;
    if (segment && this.#waitingChars > MAX_WAITING_CHARS) return segment.state === 'waiting' ? segment : undefined;
    while (segment && segment.state !== 'waiting') segment = segment.next;
    return segment;
  }

  /**
   * Hands out about `maxWork` of a segment, and no more than one of `shares` of all that waits; the rest stays queued.
   * Without bounds all of it.
   */
  give(segment: Segment, { maxWork, shares }: WorkBounds = { maxWork: Infinity, shares: 1 }): void {
    const [parts, others] = splitParts(segment.parts, Math.min(maxWork, this.#waitingWork / shares));
    segment.state = 'given';
    segment.parts = parts;
    if (others.length === 0) return;
    const work = workOf(parts);
    insertAfter(segment, { state: 'waiting', parts: others, work: segment.work - work });
    segment.work = work;
  }

  /** Records a segment as done, except for `rest`. */
  finish(segment: Segment, findings: Findings, rest: readonly WalkPart[]): Segment | undefined {
    segment.state = 'done';
    segment.findings = findings;
    segment.parts = [];
    this.#waitingChars += findings.texts.length;
    return rest.length > 0 ? insertAfter(segment, waitingFor(rest)) : undefined;
  }

  /** Puts back a segment of which nothing was done. */
  giveBack(segment: Segment): void {
    segment.state = 'waiting';
  }

  /** The next findings in order; undefined until they have arrived. */
  takeFindings(): Findings | undefined {
    const { findings } = this.#first ?? {};
    if (!findings) return undefined;
    this.#first = this.#first!.next;
    this.#waitingChars -= findings.texts.length;
    return findings;
  }

  get #waitingWork(): number {
    let work = 0;
    for (let segment = this.#first; segment; segment = segment.next) {
      if (segment.state === 'waiting') work += segment.work;
    }
    return work;
  }
}

function waitingFor(parts: readonly WalkPart[]): Segment {
  return { state: 'waiting', parts, work: workOf(parts) };
}

function insertAfter(segment: Segment, following: Segment): Segment {
  following.next = segment.next;
  segment.next = following;
  return following;
}
