/** Calls as they happen: caller, function, subject, outcome and duration. */
import { useMemo, useState } from 'preact/hooks';

import { figuresOf, filterCalls, groupByCaller, perSecond, type ShownCall } from '../call-log.ts';
import { duration } from '../format.ts';
import { callers, callLog, isFrozen, loadCalls } from '../live/calls.ts';
import { ownNode } from '../live/nodes.ts';
import { Command, Empty, SearchBox } from '../parts/layout.tsx';
import { NodeFilter } from '../nodes/node-filter.tsx';
import { goTo, route } from '../route.ts';
import { changingFunctions, keepsContents } from '../session.ts';
import { useSeconds } from '../watching.ts';
import { CallCard } from './call-card.tsx';
import { CallFlame } from './call-flame.tsx';
import { CallTable } from './call-table.tsx';

const STRIP_SECONDS = 60;

export function CallsPage() {
  const [words, setWords] = useState('');
  const [isOwnShown, setOwnShown] = useState(false);
  const [isChangesOnly, setChangesOnly] = useState(false);
  const [isGrouped, setGrouped] = useState(false);
  useSeconds(!isFrozen.value);

  const { ended, running } = callLog.value;
  const { caller, node, open: openKey } = route.value;
  const ranOn = node === ownNode.value && node !== undefined ? null : node;
  const shown = useMemo(() => {
    const changing = isChangesOnly ? changingFunctions() : undefined;
    return filterCalls([...running, ...ended], { words, caller, node: ranOn, isOwnShown }).filter(
      (one) => !changing || changing.has(one.functionKey),
    );
  }, [ended, running, words, caller, ranOn, isOwnShown, isChangesOnly]);
  const within = { ...(caller !== undefined && { caller }), ...(node !== undefined && { node }) };
  const open = (key: string) => goTo({ page: 'calls', open: key, ...within });
  const close = () => goTo({ page: 'calls', ...within });
  // Also one that the filter leaves out: a link to a call shows it.
  const openCall = [...running, ...ended].find(({ key }) => key === openKey);
  const freeze = () => {
    isFrozen.value = !isFrozen.value;
    void loadCalls();
  };

  return (
    <div class="calls">
      <h1 class="hidden">Calls</h1>
      <div class="bar">
        <SearchBox label="Filter calls" value={words} onInput={setWords} />
        <CallerFilter />
        <NodeFilter />
        <Box label="by caller" isOn={isGrouped} onFlip={setGrouped} />
        <Box label="changes only" isOn={isChangesOnly} onFlip={setChangesOnly} />
        <Box label="this console’s own" isOn={isOwnShown} onFlip={setOwnShown} />
        <Box label="keep payloads" isOn={keepsContents.value} onFlip={(isOn) => (keepsContents.value = isOn)} />
        <button type="button" aria-pressed={isFrozen.value} title="The list is frozen; calls continue" onClick={freeze}>
          {isFrozen.value ? 'Resume' : 'Pause the list'}
        </button>
        <CallFigures calls={shown} />
        <Strip calls={shown} />
      </div>
      {shown.length > 0 && <CallFlame calls={shown} nowMs={Date.now()} openKey={openCall?.key} onOpen={open} />}
      <div class="calls-body">
        {shown.length > 0 ? (
          <CallTable
            groups={isGrouped ? groupByCaller(shown) : [{ caller: '', id: '', calls: shown }]}
            openKey={openCall?.key}
            onOpen={open}
            onClose={close}
          />
        ) : (
          <Teach isFiltered={words !== '' || isChangesOnly || caller !== undefined || node !== undefined} />
        )}
        {openCall && <CallCard shown={openCall} onClose={close} />}
      </div>
    </div>
  );
}

/** The callers of the calls that are listed, and those that the engine knows. */
function CallerFilter() {
  const { caller, open, node } = route.value;
  const { ended, running } = callLog.value;
  const names = new Map([
    ...callers.value.map(({ id, label }) => [id, label] as const),
    ...[...ended, ...running]
      .filter(({ principal }) => principal.kind !== 'page')
      .map(({ caller_id: id, caller: label }) => [id, label] as const),
  ]);
  if (caller !== undefined && !names.has(caller)) names.set(caller, caller);
  return (
    <select
      class="caller-filter"
      aria-label="Caller"
      value={caller ?? ''}
      onChange={({ currentTarget: { value } }) =>
        goTo({
          page: 'calls',
          ...(open !== undefined && { open }),
          ...(node !== undefined && { node }),
          ...(value !== '' && { caller: value }),
        })
      }
    >
      <option value="">All callers</option>
      {[...names].map(([id, label]) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
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
    () => figuresOf(calls.filter(({ outcome }) => outcome !== 'running' && outcome !== 'waiting')),
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
