/** Lays out calls over time as bars that do not overlap: each in the first lane with room. */
import type { ShownCall } from './call-log.ts';

export interface Bar {
  call: ShownCall;
  lane: number;
  /** Start as a fraction of the time shown. */
  left: number;
  width: number;
}

export interface Lanes {
  bars: Bar[];
  laneCount: number;
  /** Calls in this time that did not fit. */
  leftOut: number;
}

export interface LaneOptions {
  fromMs: number;
  toMs: number;
  maxLanes: number;
  /** Minimum width of a bar as a fraction of the time shown: a call of a microsecond is visible too. */
  leastWidth: number;
}

export function lanesOf(calls: ShownCall[], { fromMs, toMs, maxLanes, leastWidth }: LaneOptions): Lanes {
  const wholeMs = Math.max(1, toMs - fromMs);
  const inTime = calls
    .filter((call) => call.started_at_ms + call.duration_ms >= fromMs && call.started_at_ms <= toMs)
    .toSorted((a, b) => a.started_at_ms - b.started_at_ms);
  const ends: number[] = [];
  const bars: Bar[] = [];
  for (const call of inTime) {
    const start = Math.max(0, (call.started_at_ms - fromMs) / wholeMs);
    const end = Math.min(1, (call.started_at_ms + call.duration_ms - fromMs) / wholeMs);
    const width = Math.max(leastWidth, end - start);
    const left = Math.min(start, 1 - width);
    const free = ends.findIndex((until) => until <= left);
    const lane = free < 0 ? ends.length : free;
    if (lane >= maxLanes) continue;
    ends[lane] = left + width;
    bars.push({ call, lane, left, width });
  }
  return { bars, laneCount: ends.length, leftOut: inTime.length - bars.length };
}
