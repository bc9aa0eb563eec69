/** Calls over time as bars that do not overlap: each in the first lane where there is room. */
import type { ShownCall } from './call-log.ts';

export interface Bar {
  call: ShownCall;
  lane: number;
  /** In parts of the time shown. */
  left: number;
  width: number;
}

export interface Lanes {
  bars: Bar[];
  laneCount: number;
  /** Calls in this time for which there was no room. */
  leftOut: number;
}

export interface LaneOptions {
  fromMs: number;
  toMs: number;
  maxLanes: number;
  /** A bar is never thinner than this part of the time shown: a call of a microsecond is seen too. */
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
