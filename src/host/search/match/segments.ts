/**
 * A search cut into pieces, in the order of their paths, each of which may be done by another process.
 *
 * Pieces are given out from the first on, so that what comes first in the answer is done first, and results are
 * taken in order however they come in. Whoever has a piece may give back what it did not get to.
 */
import { splitParts, workOf, type WalkPart } from '../../walk/walk-part.ts';
import { MAX_ANSWER_CHARS, type Findings } from '../findings.ts';

export interface Segment {
  state: 'waiting' | 'given' | 'done';
  parts: readonly WalkPart[];
  /** About how much that is. */
  work: number;
  findings?: Findings;
  /** Whether the main process met a file in it that takes too long. */
  isForWorkers?: boolean;
  next?: Segment;
}

interface WorkBounds {
  readonly maxWork: number;
  readonly shares: number;
}

/** Text that waits for what comes before it; beyond, only that is searched. */
const MAX_HELD_CHARS = 2 * MAX_ANSWER_CHARS;

export class Segments {
  #first: Segment | undefined;
  #heldChars = 0;

  constructor(parts: readonly WalkPart[]) {
    this.#first = waitingFor(parts);
  }

  /** Whether everything was done and taken. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** The first that waits, without giving it out. */
  get waiting(): Segment | undefined {
    let segment = this.#first;
    if (segment && this.#heldChars > MAX_HELD_CHARS) return segment.state === 'waiting' ? segment : undefined;
    while (segment && segment.state !== 'waiting') segment = segment.next;
    return segment;
  }

  /**
   * Gives out about so much work of a segment, and no more than one of so many shares of all that waits; the rest goes
   * on waiting. Without a bound all of it is given.
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

  /** The segment was done, but for a rest. */
  finish(segment: Segment, findings: Findings, rest: readonly WalkPart[]): Segment | undefined {
    segment.state = 'done';
    segment.findings = findings;
    segment.parts = [];
    this.#heldChars += findings.texts.length;
    return rest.length > 0 ? insertAfter(segment, waitingFor(rest)) : undefined;
  }

  /** Nothing of the segment was done. */
  giveBack(segment: Segment): void {
    segment.state = 'waiting';
  }

  /** The findings that are next in order; undefined until they are there. */
  takeFindings(): Findings | undefined {
    const { findings } = this.#first ?? {};
    if (!findings) return undefined;
    this.#first = this.#first!.next;
    this.#heldChars -= findings.texts.length;
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
