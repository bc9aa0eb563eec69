/** Recent calls as bars in lanes: concurrency, duration and outcome. */
import { useState } from 'preact/hooks';

import { lanesOf } from '../call-lanes.ts';
import type { ShownCall } from '../call-log.ts';
import { duration } from '../format.ts';

const SPANS = [
  { label: '10 s', ms: 10_000 },
  { label: '1 min', ms: 60_000 },
  { label: '10 min', ms: 600_000 },
] as const;
const MAX_LANES = 6;
const LANE_PX = 18;
const LEAST_WIDTH = 1 / 300;
const TICKS = 5;
const AXIS_PX = 15;
/** A bar of at least this fraction has room for a name. */
const NAMED_WIDTH = 0.06;

interface CallFlameProps {
  calls: ShownCall[];
  /** The right end of the time shown. */
  nowMs: number;
  openKey: string | undefined;
  onOpen: (key: string) => void;
}

export function CallFlame({ calls, nowMs, openKey, onOpen }: CallFlameProps) {
  const [chosenMs, setChosenMs] = useState<number | undefined>(undefined);
  const spanMs = chosenMs ?? fittingSpan(calls, nowMs);
  const time = { fromMs: nowMs - spanMs, toMs: nowMs };
  const { bars, laneCount, leftOut } = lanesOf(calls, { ...time, maxLanes: MAX_LANES, leastWidth: LEAST_WIDTH });
  return (
    <section class="flame" aria-label="Timeline">
      <header>
        {SPANS.map(({ label, ms }) => (
          <button key={ms} type="button" class="plain" aria-pressed={ms === spanMs} onClick={() => setChosenMs(ms)}>
            {label}
          </button>
        ))}
        <span class="quiet">{leftOut > 0 && `${leftOut} more without room`}</span>
      </header>
      <div class="flame-lanes" style={{ height: `${AXIS_PX + Math.max(2, laneCount) * LANE_PX}px` }}>
        {Array.from({ length: TICKS - 1 }, (_, at) => (
          <span key={at} class="flame-tick" style={{ left: `${(100 * (at + 1)) / TICKS}%` }}>
            {ago(spanMs * (1 - (at + 1) / TICKS))}
          </span>
        ))}
        {bars.map(({ call, lane, left, width }) => (
          <button
            key={call.key}
            type="button"
            tabIndex={-1}
            class="flame-bar"
            data-kind={call.outcome}
            aria-current={call.key === openKey ? 'true' : undefined}
            title={`${call.functionKey} ${call.line ?? ''} · ${call.says} · ${duration(call.duration_ms)} · ${call.caller}`}
            style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${AXIS_PX + lane * LANE_PX}px` }}
            onClick={() => onOpen(call.key)}
          >
            {width > NAMED_WIDTH && (call.line ?? call.functionKey)}
          </button>
        ))}
      </div>
    </section>
  );
}

/** The default range: the shortest that holds everything, a minute at most. */
function fittingSpan(calls: ShownCall[], nowMs: number): number {
  const oldestMs = nowMs - Math.min(nowMs, ...calls.slice(-1).map((call) => call.started_at_ms));
  return oldestMs < SPANS[0].ms ? SPANS[0].ms : SPANS[1].ms;
}

function ago(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s ago` : `${Math.round(ms / 60_000)} min ago`;
}
