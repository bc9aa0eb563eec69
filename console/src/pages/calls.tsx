/** Calls as they happen: caller, function, duration, and timeline. */
import { signal } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';

import {
  addReply,
  emptyLog,
  figuresOf,
  filterCalls,
  perSecond,
  type CallLog,
  type CallsReply,
  type ShownCall,
} from '../call-log.ts';
import { duration } from '../format.ts';
import { Command, Empty, SearchBox } from '../parts/layout.tsx';
import { goTo, route } from '../route.ts';
import { call, changingFunctions, keepsContents } from '../session.ts';
import { useSeconds, useWatch } from '../watching.ts';
import { CallCard } from './call-card.tsx';
import { CallFlame } from './call-flame.tsx';
import { CallTable } from './call-table.tsx';

const STRIP_SECONDS = 60;

/** Outside the page, so that switching pages loses nothing. */
const log = signal<CallLog>(emptyLog);

export function CallsPage() {
  const [search, setSearch] = useState('');
  const [isPaused, setPaused] = useState(false);
  const [isOwnShown, setOwnShown] = useState(false);
  const [isChangesOnly, setChangesOnly] = useState(false);
  const load = async () => {
    if (isPaused) return;
    const reply = await call<CallsReply>('engine::calls::list', { since: log.value.latest }).catch(() => undefined);
    if (reply) log.value = addReply(log.value, reply);
  };
  useWatch('engine::watch', load, [isPaused]);
  useSeconds(!isPaused);

  const { ended, running } = log.value;
  const shown = useMemo(() => {
    const changing = isChangesOnly ? changingFunctions() : undefined;
    return filterCalls([...running, ...ended], search, isOwnShown).filter(
      (one) => !changing || changing.has(one.functionKey),
    );
  }, [ended, running, search, isOwnShown, isChangesOnly]);
  const open = (key: string) => goTo({ page: 'calls', open: key });
  const close = () => goTo({ page: 'calls' });
  const openCall = shown.find(({ key }) => key === route.value.open);

  return (
    <div class="calls">
      <div class="bar">
        <SearchBox label="Filter calls" value={search} onInput={setSearch} />
        <Box label="changes only" isOn={isChangesOnly} onFlip={setChangesOnly} />
        <Box label="this console’s own" isOn={isOwnShown} onFlip={setOwnShown} />
        <Box label="keep payloads" isOn={keepsContents.value} onFlip={(isOn) => (keepsContents.value = isOn)} />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
        <CallFigures calls={shown} />
        <Strip calls={shown} />
      </div>
      {shown.length > 0 && <CallFlame calls={shown} nowMs={Date.now()} openKey={openCall?.key} onOpen={open} />}
      <div class="calls-body">
        {shown.length > 0 ? (
          <CallTable calls={shown} openKey={openCall?.key} onOpen={open} onClose={close} />
        ) : (
          <Teach isFiltered={search !== '' || isChangesOnly} />
        )}
        {openCall && <CallCard shown={openCall} onClose={close} />}
      </div>
    </div>
  );
}

function Box({ label, isOn, onFlip }: { label: string; isOn: boolean; onFlip: (isOn: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={() => onFlip(!isOn)} /> {label}
    </label>
  );
}

function CallFigures({ calls }: { calls: ShownCall[] }) {
  const { count, failed, medianMs, slowMs } = useMemo(
    () => figuresOf(calls.filter(({ outcome }) => outcome !== 'running')),
    [calls],
  );
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

function Teach({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No call fits the filter' : 'No calls yet'}>
      <p>Everything that agents, programs and people call appears here while it runs. To make one:</p>
      <Command text={`curl -s ${location.origin}/functions/coder/search -d '{"query":"TODO"}'`} />
      <p>Or give an agent the tools, and watch what it does and what it changes:</p>
      <Command text={`claude mcp add --transport http workcell ${location.origin}/mcp`} />
    </Empty>
  );
}
