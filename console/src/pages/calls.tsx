/** Calls as they happen: who asked for what, how long it took, and where it lies in time beside the others. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

import {
  addReply,
  barOf,
  emptyLog,
  figuresOf,
  filterCalls,
  perSecond,
  spanOf,
  type CallLog,
  type CallsReply,
  type ShownCall,
} from '../call-log.ts';
import { clock, duration } from '../format.ts';
import { cursor, useListKeys } from '../keys.ts';
import { Badge, Command, Empty, Facts, SearchBox } from '../parts/layout.tsx';
import { usePolling } from '../polling.ts';
import { goTo, hashOf, route } from '../route.ts';
import { call } from '../session.ts';

const POLL_MS = 1_000;
const STRIP_SECONDS = 60;
const MAX_SHOWN = 200;

/** Outside the page, so that going elsewhere and coming back loses nothing. */
const log = signal<CallLog>(emptyLog);

export function CallsPage() {
  const [search, setSearch] = useState('');
  const [isPaused, setPaused] = useState(false);
  const [isOwnShown, setOwnShown] = useState(false);
  usePolling(
    async () => {
      if (isPaused) return;
      const reply = await call<CallsReply>('engine::calls::list', { since: log.value.latest }).catch(() => undefined);
      if (reply) log.value = addReply(log.value, reply);
    },
    POLL_MS,
    [isPaused],
  );

  const ended = filterCalls(log.value.ended, search, isOwnShown);
  const shown = [...filterCalls(log.value.running, search, isOwnShown), ...ended].slice(0, MAX_SHOWN);
  const open = (key: string) => goTo({ page: 'calls', open: key });
  useListKeys({ keys: shown.map(({ key }) => key), open, close: () => goTo({ page: 'calls' }) });
  const openCall = shown.find(({ key }) => key === route.value.open);

  return (
    <div class="calls">
      <div class="bar">
        <SearchBox label="Filter calls" value={search} onInput={setSearch} />
        <label class="check">
          <input type="checkbox" checked={isOwnShown} onChange={() => setOwnShown(!isOwnShown)} /> this console’s own
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
        <CallFigures calls={ended} />
        <Strip calls={ended} />
      </div>
      <div class="calls-body">
        {shown.length > 0 ? <CallTable calls={shown} openKey={openCall?.key} onOpen={open} /> : <Teach />}
        {openCall && <CallCard shown={openCall} />}
      </div>
    </div>
  );
}

function CallFigures({ calls }: { calls: ShownCall[] }) {
  const { count, failed, medianMs, slowMs } = figuresOf(calls);
  return (
    <p class="figures">
      <span>
        <b>{count}</b> calls
      </span>
      <span data-bad={failed > 0 ? '' : undefined}>
        <b>{failed}</b> failed
      </span>
      <span>
        <b>{duration(medianMs)}</b> median
      </span>
      <span>
        <b>{duration(slowMs)}</b> 95th
      </span>
    </p>
  );
}

function Strip({ calls }: { calls: ShownCall[] }) {
  const bins = perSecond(calls, Date.now(), STRIP_SECONDS);
  const highest = Math.max(4, ...bins.map(({ ok, failed }) => ok + failed));
  const part = (count: number) => `${(100 * count) / highest}%`;
  return (
    <div class="strip" role="img" aria-label={`Calls in each of the last ${STRIP_SECONDS} seconds`}>
      {bins.map(({ ok, failed }, at) => (
        <span key={at} title={`${ok + failed} calls, ${STRIP_SECONDS - at} s ago`}>
          <i class="strip-failed" style={{ height: part(failed) }} />
          <i class="strip-ok" style={{ height: part(ok) }} />
        </span>
      ))}
    </div>
  );
}

interface CallTableProps {
  calls: ShownCall[];
  openKey: string | undefined;
  onOpen: (key: string) => void;
}

function CallTable({ calls, openKey, onOpen }: CallTableProps) {
  const span = spanOf(calls);
  return (
    <div class="scroll">
      <table class="grid">
        <thead>
          <tr>
            <th>Time</th>
            <th>Function</th>
            <th>From</th>
            <th>To</th>
            <th>Outcome</th>
            <th class="right">Took</th>
            <th class="timeline-head">
              <span>{clock(span.fromMs)}</span>
              <span>{clock(span.toMs)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {calls.map((one) => {
            const { left, width } = barOf(one, span);
            return (
              <tr
                key={one.key}
                data-cursor={cursor.value === one.key ? '' : undefined}
                aria-current={one.key === openKey ? 'true' : undefined}
                onClick={() => onOpen(one.key)}
              >
                <td class="mono quiet">{clock(one.started_at_ms)}</td>
                <td class="mono">{one.function_id}</td>
                <td class="quiet">{one.caller ?? 'nobody waits'}</td>
                <td class="quiet">{one.worker ?? '—'}</td>
                <td>
                  <Badge kind={one.outcome}>{one.code ?? one.outcome}</Badge>
                </td>
                <td class="mono right">{duration(one.duration_ms)}</td>
                <td class="timeline">
                  <span>
                    <i data-kind={one.outcome} style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function CallCard({ shown }: { shown: ShownCall }) {
  return (
    <aside class="side pad" aria-label="Call">
      <header class="title">
        <h1 class="mono">{shown.function_id}</h1>
        <Badge kind={shown.outcome}>{shown.code ?? shown.outcome}</Badge>
      </header>
      <Facts
        rows={[
          ['started', `${clock(shown.started_at_ms)}`],
          [shown.outcome === 'running' ? 'running for' : 'took', duration(shown.duration_ms)],
          ['called by', shown.caller ?? 'nobody waits for it'],
          ['served by', shown.worker ?? 'nobody'],
          ['id', <span class="mono">{shown.id}</span>],
        ]}
      />
      <p class="actions">
        <a href={hashOf({ page: 'functions', open: shown.function_id })}>Open the function</a>
        {shown.code && <a href={`/docs/errors#${shown.code}`}>What {shown.code} means</a>}
      </p>
      <p class="quiet">The engine keeps no payloads of calls.</p>
    </aside>
  );
}

function Teach() {
  return (
    <Empty title="No calls yet">
      <p>Everything that agents, programs and people call appears here while it runs. To make one:</p>
      <Command text={`curl -s ${location.origin}/functions/coder/search -d '{"query":"TODO"}'`} />
    </Empty>
  );
}
