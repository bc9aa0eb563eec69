/**
 * Finds lines that match a regex, each searched alone.
 *
 * Most regexes cannot match without something rare: a literal, or a run of some character sets. Only lines that contain
 * it reach the regex, so such a search is nearly as fast as one for a literal.
 */
import type { Regex } from '../../regex/index.ts';
import { lineAround, newlineAfter, type Hit, type TextRange } from './lines.ts';
import { probesOf, type Probe } from './probes.ts';
import type { TextMemory } from './text-memory.ts';
import { asUtf8 } from './utf8.ts';

/** Beyond this share of a text, searching lines one by one costs more than all at once. */
const MAX_CANDIDATE_SHARE = 1 / 8;

export class RegexMatcher {
  readonly #regex: Regex;
  readonly #memory: TextMemory;
  readonly #probes: readonly Probe[];

  constructor(regex: Regex, memory: TextMemory) {
    this.#regex = regex;
    this.#memory = memory;
    this.#probes = probesOf(regex, memory);
  }

  matchesPath(path: string): boolean {
    return this.#regex.isMatch(Buffer.from(path));
  }

  find(given: TextRange, limit: number): { text: TextRange; hits: Hit[] } {
    for (const probe of this.#probes) probe.begin();
    const lead = this.#rarest();
    if (lead && lead.find(given.start, given.end) < 0) {
      lead.note(given.end - given.start, 0);
      return { text: given, hits: [] };
    }

    const text = asUtf8(this.#memory, given);
    const candidates = lead && this.#linesWith(lead, text);
    return { text, hits: candidates ? this.#findAmong(candidates, limit) : this.#findInAll(text, limit) };
  }

  /** Undefined if no required text or run is rare. */
  #rarest(): Probe | undefined {
    let rarest: Probe | undefined;
    for (const probe of this.#probes) if (!rarest || probe.rate < rarest.rate) rarest = probe;
    return rarest;
  }

  /** The lines that contain a probe, so that they may match; undefined for too many. */
  #linesWith(lead: Probe, text: TextRange): TextRange[] | undefined {
    const others = this.#probes.filter((probe) => probe !== lead);
    let bytesLeft = (text.end - text.start) * MAX_CANDIDATE_SHARE;
    let count = 0;
    let at = lead.find(text.start, text.end);
    const lines: TextRange[] = [];
    while (at >= 0 && bytesLeft >= 0) {
      count++;
      const line = lineAround(this.#memory, text, at);
      if (others.every((probe) => probe.find(line.start, line.end) >= 0)) {
        bytesLeft -= line.end - line.start;
        lines.push(line);
      }
      const next = Math.min(newlineAfter(this.#memory, text, line.end) + 1, text.end);
      at = lead.find(next, text.end);
    }
    lead.note((at < 0 ? text.end : at) - text.start, count);
    return at < 0 ? lines : undefined;
  }

  #findAmong(lines: TextRange[], limit: number): Hit[] {
    const hits: Hit[] = [];
    for (const { start, end } of lines) {
      if (hits.length === limit) break;
      const match = this.#regex.find(this.#memory.buffer.subarray(start, end));
      if (match) hits.push({ lineStart: start, lineEnd: end, matchStart: start + match.start });
    }
    return hits;
  }

  #findInAll({ start, end }: TextRange, limit: number): Hit[] {
    return this.#regex.findLines(this.#memory.buffer.subarray(start, end), { limit }).map((line) => ({
      lineStart: start + line.lineStart,
      lineEnd: start + line.lineEnd,
      matchStart: start + line.matchStart,
    }));
  }
}
