/**
 * A search cut into pieces, in the order of their paths, each of which may be done by another process.
 *
 * Pieces are given out from the first on, so that what comes first in the answer is done first, and results are
 * taken in order however they come in. Whoever has a piece may give back what it did not get to.
 */
import { splitParts, type WalkPart } from '../walk-part.ts';
import { MAX_ANSWER_CHARS, type Findings } from './findings.ts';

export interface Segment {
  state: 'waiting' | 'given' | 'done';
  parts: readonly WalkPart[];
  findings?: Findings;
  /** Whether the main process met a file in it that takes too long. */
  isForWorkers?: boolean;
  next?: Segment;
}

/** Text that waits for what comes before it; beyond, only that is searched. */
const MAX_HELD_CHARS = 2 * MAX_ANSWER_CHARS;

export class Segments {
  #first: Segment | undefined;
  #heldChars = 0;

  constructor(parts: readonly WalkPart[]) {
    this.#first = { state: 'waiting', parts };
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

  /** Gives out a segment, of about so much work; the rest of it goes on waiting. */
  give(segment: Segment, maxWork: number): void {
    const [parts, others] = splitParts(segment.parts, maxWork);
    segment.state = 'given';
    segment.parts = parts;
    if (others.length > 0) insertAfter(segment, { state: 'waiting', parts: others });
  }

  /** The segment was done, but for a rest. */
  finish(segment: Segment, findings: Findings, rest: readonly WalkPart[]): Segment | undefined {
    segment.state = 'done';
    segment.findings = findings;
    segment.parts = [];
    this.#heldChars += findings.texts.length;
    return rest.length > 0 ? insertAfter(segment, { state: 'waiting', parts: rest }) : undefined;
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
}

function insertAfter(segment: Segment, following: Segment): Segment {
  following.next = segment.next;
  segment.next = following;
  return following;
}
