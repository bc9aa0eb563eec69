/** Connected agents, programs and people, each with buttons to pause and stop it. */
import { useState } from 'preact/hooks';

import { counted, since } from '../format.ts';
import { callers, type CallerRow } from '../live/calls.ts';
import { runningJobs, sandboxes } from '../live/machines.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge } from '../parts/layout.tsx';
import { hashOf } from '../route.ts';
import { PauseCaller, StopCaller } from '../parts/stop-actions.tsx';

/** A caller whose surface reports no disconnect counts as connected for this long after its last call. */
const HERE_MS = 10 * 60_000;

function isHere({ here, last_seen_ms: seenMs, running, waiting, paused }: CallerRow): boolean {
  return running + waiting > 0 || paused || (here ?? Date.now() - seenMs < HERE_MS);
}

export function Agents() {
  const here = callers.value.filter(isHere);
  const earlier = callers.value.filter((one) => !isHere(one));
  return (
    <section class="agents-part" aria-label="Agents">
      <h2>
        Agents <span class="quiet">{here.length} here</span>
      </h2>
      <div class="agents">
        {here.map((one) => (
          <AgentCard key={one.id} caller={one} />
        ))}
      </div>
      {here.length === 0 && <p class="quiet">No agent is connected now.</p>}
      {earlier.length > 0 && (
        <details>
          <summary class="quiet">{earlier.length} earlier</summary>
          <div class="agents">
            {earlier.map((one) => (
              <AgentCard key={one.id} caller={one} />
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

function AgentCard({ caller }: { caller: CallerRow }) {
  const [error, setError] = useState<unknown>(undefined);
  const { id, label, kind, running, waiting, paused, calls, client } = caller;
  const jobs = runningJobs().filter((job) => job.caller?.id === id).length;
  const machines = (sandboxes.value ?? []).filter((one) => one.caller?.id === id).length;
  const facts = [
    running > 0 && `${running} running`,
    waiting > 0 && `${waiting} waiting`,
    jobs > 0 && counted(jobs, 'job', 'jobs'),
    machines > 0 && counted(machines, 'sandbox', 'sandboxes'),
    counted(calls, 'call', 'calls'),
  ];
  return (
    <article class="agent card" aria-label={label} data-paused={paused ? '' : undefined}>
      <header>
        <span class="dot" data-busy={running + jobs > 0 ? '' : undefined} />
        <a
          class="cut grow"
          href={hashOf({ page: 'calls', caller: id })}
          title={`${label} (${client?.version || kind})`}
        >
          {label}
        </a>
        {paused && <Badge kind="waiting">paused</Badge>}
      </header>
      <p>{facts.filter(Boolean).join(' · ')}</p>
      <p class="quiet">last call {since(caller.last_seen_ms)}</p>
      <p class="actions">
        <PauseCaller caller={caller} onError={setError} />
        <StopCaller caller={caller} onError={setError} />
      </p>
      {error !== undefined && <FailureCard error={error} />}
    </article>
  );
}
