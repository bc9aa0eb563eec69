/** The list of calls, newest first. Only rows in view are rendered, so ten thousand cost as much as fifty. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { barOf, spanOf, type ShownCall } from '../call-log.ts';
import { clock, duration, preciseClock } from '../format.ts';
import { cursor, useListKeys } from '../keys.ts';
import { Badge } from '../parts/layout.tsx';
import { rowWindow, useView } from '../row-window.ts';

/** As in call-table.css. */
const ROW_PX = 25;
const HEAD_PX = 27;

interface CallTableProps {
  calls: ShownCall[];
  openKey: string | undefined;
  onOpen: (key: string) => void;
  onClose: () => void;
}

export function CallTable({ calls, openKey, onOpen, onClose }: CallTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const { from, until } = rowWindow(useView(box), ROW_PX, calls.length);
  const shown = calls.slice(from, until);
  const span = spanOf(shown);
  useStayingInPlace(box, calls);
  useListKeys({
    keys: useMemo(() => calls.map(({ key }) => key), [calls]),
    open: onOpen,
    close: onClose,
    reveal: (key) =>
      revealRow(
        box.current!,
        calls.findIndex((one) => one.key === key),
      ),
  });

  return (
    <div class="scroll" ref={box}>
      <table class="grid" data-narrow={openKey === undefined ? undefined : ''}>
        <thead>
          <tr>
            <th class="col-time">Time</th>
            <th>Function</th>
            <th class="col-peer">From</th>
            <th class="col-peer col-worker">To</th>
            <th class="col-outcome">Outcome</th>
            <th class="col-took right">Took</th>
            <th class="timeline-head">
              <span>{clock(span.fromMs)}</span>
              <span>{clock(span.toMs)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Space rows={from} />
          {shown.map((one, at) => (
            <CallRow
              // A row that leaves the view is reused for one that enters it.
              key={(from + at) % shown.length}
              call={one}
              span={span}
              isOpen={one.key === openKey}
              onOpen={() => onOpen(one.key)}
            />
          ))}
          <Space rows={calls.length - until} />
        </tbody>
      </table>
    </div>
  );
}

interface CallRowProps {
  call: ShownCall;
  span: { fromMs: number; toMs: number };
  isOpen: boolean;
  onOpen: () => void;
}

function CallRow({ call, span, isOpen, onOpen }: CallRowProps) {
  const { left, width } = barOf(call, span);
  const open = () => {
    cursor.value = call.key;
    onOpen();
  };
  return (
    <tr
      data-cursor={cursor.value === call.key ? '' : undefined}
      aria-current={isOpen ? 'true' : undefined}
      onClick={open}
    >
      <td class="mono quiet">{preciseClock(call.started_at_ms)}</td>
      <td class="mono">{call.functionKey}</td>
      <td class="quiet col-peer">{call.caller}</td>
      <td class="quiet col-worker">{call.worker ?? '—'}</td>
      <td>
        <Badge kind={call.outcome}>{call.code ?? call.outcome}</Badge>
      </td>
      <td class="mono right">{duration(call.duration_ms)}</td>
      <td class="timeline">
        <span>
          <i data-kind={call.outcome} style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
        </span>
      </td>
    </tr>
  );
}

/** The height of rows that are not rendered. */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? <tr class="space" aria-hidden="true" style={{ height: `${rows * ROW_PX}px` }} /> : null;
}

/** New calls come in at the top: a reader further down keeps the rows in view. */
function useStayingInPlace(box: { current: HTMLDivElement | null }, calls: ShownCall[]): void {
  const first = useRef(calls[0]?.key);
  useLayoutEffect(() => {
    const moved = calls.findIndex((one) => one.key === first.current);
    first.current = calls[0]?.key;
    if (moved > 0 && box.current!.scrollTop > 0) box.current!.scrollTop += moved * ROW_PX;
  }, [calls]);
}

function revealRow(box: HTMLDivElement, at: number): void {
  const [top, bottom] = [at * ROW_PX, (at + 1) * ROW_PX + HEAD_PX];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}
