/** The list of calls, newest first. Only rows in view are rendered, so ten thousand cost as much as fifty. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { barOf, spanOf, type ShownCall } from '../call-log.ts';
import { clock, counted, duration, preciseClock } from '../format.ts';
import { cursor, useListKeys } from '../keys.ts';
import { nodes, ownNode } from '../live/nodes.ts';
import { CallLine, OutcomeBadge } from '../parts/call-parts.tsx';
import { rowWindow, useIsNarrow, useView } from '../row-window.ts';

/** As in call-table.css: a row is two lines high where the page is narrow. */
const ROW_PX = 25;
const NARROW_ROW_PX = 46;
const HEAD_PX = 27;
const COLUMNS = 8;

interface Group {
  caller: string;
  id: string;
  calls: ShownCall[];
}

/** A call, or the name of the caller above its calls. */
type Line = { key: string } & ({ call: ShownCall } | { group: Group });

interface CallTableProps {
  /** Header rows; a list that is not grouped has one group without a name. */
  groups: Group[];
  openKey: string | undefined;
  onOpen: (key: string) => void;
  onClose: () => void;
}

export function CallTable({ groups, openKey, onOpen, onClose }: CallTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const rowPx = useIsNarrow() ? NARROW_ROW_PX : ROW_PX;
  const lines = useMemo(() => groups.flatMap(linesOf), [groups]);
  const { from, until } = rowWindow(useView(box), rowPx, lines.length);
  const shown = lines.slice(from, until);
  const span = spanOf(shown.flatMap((line) => ('call' in line ? [line.call] : [])));
  useStayingInPlace(box, lines, rowPx);
  useListKeys({
    keys: useMemo(() => lines.flatMap((line) => ('call' in line ? [line.key] : [])), [lines]),
    open: onOpen,
    close: onClose,
    reveal: (key) =>
      revealRow(
        box.current!,
        lines.findIndex((one) => one.key === key),
        rowPx,
      ),
  });

  return (
    <div class="scroll" ref={box} tabIndex={0} role="region" aria-label="Calls">
      <table class="grid" data-narrow={openKey === undefined ? undefined : ''}>
        <thead>
          <tr>
            <th class="col-time">Time</th>
            <th class="col-peer">Caller</th>
            <th class="col-function">Function</th>
            <th>What</th>
            {nodes.value.length > 0 && <th class="col-node">Node</th>}
            <th class="col-outcome">Outcome</th>
            <th class="col-took right">Took</th>
            <th class="timeline-head">
              <span>{clock(span.fromMs)}</span>
              <span>{clock(span.toMs)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Space px={from * rowPx} />
          {shown.map((line, at) =>
            'call' in line ? (
              <CallRow
                // A row that leaves the view is reused for one that enters it.
                key={(from + at) % shown.length}
                call={line.call}
                span={span}
                isOpen={line.key === openKey}
                onOpen={() => onOpen(line.key)}
              />
            ) : (
              <GroupRow key={line.key} group={line.group} />
            ),
          )}
          <Space px={(lines.length - until) * rowPx} />
        </tbody>
      </table>
    </div>
  );
}

function linesOf(group: Group): Line[] {
  const calls = group.calls.map((call): Line => ({ key: call.key, call }));
  return group.id === '' ? calls : [{ key: `group ${group.id}`, group }, ...calls];
}

function GroupRow({ group: { caller, calls } }: { group: Group }) {
  const refused = calls.filter(({ outcome }) => outcome === 'refused').length;
  return (
    <tr class="group-row">
      <th colSpan={COLUMNS} scope="rowgroup">
        {caller}{' '}
        <span class="quiet">
          {counted(calls.length, 'call', 'calls')}
          {refused > 0 && `, ${refused} refused`}
        </span>
      </th>
    </tr>
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
      data-nested={call.via === null ? undefined : ''}
      aria-current={isOpen ? 'true' : undefined}
      onClick={open}
    >
      <td class="cell-time mono quiet">{preciseClock(call.started_at_ms)}</td>
      <td class="cell-caller" title={call.caller}>
        {call.caller}
      </td>
      <td class="cell-function mono" title={call.functionKey}>
        {call.functionKey}
      </td>
      <td class="cell-what mono" title={call.line ?? ''}>
        <CallLine call={call} />
      </td>
      {nodes.value.length > 0 && (
        <td class="cell-node mono" title="where it ran">
          {call.node ?? ownNode.value}
        </td>
      )}
      <td class="cell-outcome">
        <OutcomeBadge call={call} />
      </td>
      <td class="cell-took mono right">{duration(call.duration_ms)}</td>
      <td class="timeline">
        <span>
          <i data-kind={call.outcome} style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
        </span>
      </td>
    </tr>
  );
}

/** The height of rows that are not rendered. */
function Space({ px }: { px: number }) {
  return px > 0 ? <tr class="space" aria-hidden="true" style={{ height: `${px}px` }} /> : null;
}

/** New calls come in at the top: a reader further down keeps the rows in view. */
function useStayingInPlace(box: { current: HTMLDivElement | null }, lines: Line[], rowPx: number): void {
  const first = useRef(lines[0]?.key);
  useLayoutEffect(() => {
    const moved = lines.findIndex((one) => one.key === first.current);
    first.current = lines[0]?.key;
    if (moved > 0 && box.current!.scrollTop > 0) box.current!.scrollTop += moved * rowPx;
  }, [lines]);
}

function revealRow(box: HTMLDivElement, at: number, rowPx: number): void {
  const [top, bottom] = [at * rowPx, (at + 1) * rowPx + HEAD_PX];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}
