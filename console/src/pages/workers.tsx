/** The workers on the bus. */
import { useState } from 'preact/hooks';

import { functionKey } from '../catalogue.ts';
import { clock, duration } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { Badge, Command, Empty, Facts, Row, SearchBox } from '../parts/layout.tsx';
import { Split } from '../parts/split.tsx';
import { goTo, hashOf, route } from '../route.ts';
import { workers, type WorkerRow } from '../session.ts';

export function WorkersPage() {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase();
  const shown = workers.value.filter((worker) => `${worker.name} ${worker.runtime}`.toLowerCase().includes(words));
  const open = (id: string) => goTo({ page: 'workers', open: id });
  useListKeys({ keys: shown.map(({ id }) => id), open, close: () => goTo({ page: 'workers' }) });
  const openWorker = workers.value.find(({ id }) => id === route.value.open);

  return (
    <Split
      page="workers"
      names={['Workers', 'Worker']}
      isOpen={route.value.open !== undefined}
      list={
        <>
          <h1 class="hidden">Workers</h1>
          <SearchBox label="Search workers" value={search} onInput={setSearch} />
          <div class="scroll">
            {shown.map((worker) => (
              <Row key={worker.id} id={worker.id} isOpen={worker === openWorker} onOpen={() => open(worker.id)}>
                <span class="mono cut grow">{worker.name}</span>
                {worker.active_invocations > 0 && <Badge kind="running">{worker.active_invocations} running</Badge>}
                <span class="quiet">{worker.functions.length}</span>
              </Row>
            ))}
          </div>
        </>
      }
    >
      {openWorker ? <WorkerCard worker={openWorker} /> : <Teach />}
    </Split>
  );
}

function WorkerCard({ worker }: { worker: WorkerRow }) {
  return (
    <div class="scroll pad">
      <header class="title">
        <h1 class="mono">{worker.name}</h1>
        <Badge kind={worker.status === 'connected' ? 'running' : 'plain'}>
          {worker.ip_address === null ? 'in this process' : worker.ip_address}
        </Badge>
      </header>
      <p>{worker.description}</p>
      <Facts
        rows={[
          ['version', worker.version || 'not reported'],
          ['runtime', worker.runtime],
          ['system', worker.os],
          ['process', worker.pid ?? 'unknown'],
          ['isolation', worker.isolation ?? 'not reported'],
          ['namespace', worker.namespace],
          [
            'connected',
            `${clock(worker.connected_at_ms)}, for ${duration(Math.max(1_000, Date.now() - worker.connected_at_ms))}`,
          ],
          ['running calls', worker.active_invocations],
        ]}
      />
      <h2>
        Functions <span class="quiet">{worker.functions.length}</span>
      </h2>
      <ul class="links">
        {worker.functions.map((id) => (
          <li key={id}>
            <a
              class="mono"
              href={hashOf({ page: 'functions', open: functionKey({ function_id: id, namespace: worker.namespace }) })}
            >
              {id}
            </a>
          </li>
        ))}
      </ul>
      {worker.functions.length === 0 && <p class="quiet">It serves none: it is here to call others.</p>}
    </div>
  );
}

function Teach() {
  return (
    <Empty title="Workers serve functions, in this process or in any other">
      <p>Point any iii SDK, in any language, at this engine. What it registers appears here and in Functions:</p>
      <Command text={`III_URL=${location.origin.replace(/^http/, 'ws')} node my-worker.mjs`} />
      <p>One of the workers that come with Workcell, on another engine:</p>
      <Command text="workcell worker run coder --url ws://other-host:49134" />
    </Empty>
  );
}
