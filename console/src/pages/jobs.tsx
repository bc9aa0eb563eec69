/** Background jobs of the shell worker: the list, a line to start one, and the one that is open. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

import { duration, shortId } from '../format.ts';
import type { JobRecord, JobSummary } from '../jobs/job-record.ts';
import { useListKeys } from '../keys.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge, Command, Empty, Row } from '../parts/layout.tsx';
import { goTo, route } from '../route.ts';
import { call } from '../session.ts';
import { keepShownOffset } from '../terminal/shown-offsets.ts';
import { useSeconds, useWatch } from '../watching.ts';
import { JobCard } from './job-card.tsx';

/** The list of jobs omits their commands, and one answer has all the output of a job: this many are fetched a round. */
const COMMANDS_A_ROUND = 4;
/** Until the page shows the terminal and knows its size. */
const FIRST_SIZE = { cols: 80, rows: 24 };
/** What a reload of the page shows of a terminal. */
const TERMINAL_RING_BYTES = 4 * 2 ** 20;

/** By job id, for listed jobs, as far as loaded. */
const commands = signal<ReadonlyMap<string, string>>(new Map());

export function JobsPage() {
  const [jobs, setJobs] = useState<JobSummary[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const load = () =>
    call<{ jobs: JobSummary[] }>('shell::list').then(({ jobs: listed }) => {
      setJobs(listed.toReversed());
      setError(undefined);
      return learnCommands(listed.toReversed());
    }, setError);
  useWatch('shell::watch', load);
  useSeconds(jobs?.some(({ status }) => status === 'running') ?? false);
  const open = (id: string) => goTo({ page: 'jobs', open: id });
  useListKeys({ keys: (jobs ?? []).map(({ id }) => id), open, close: () => goTo({ page: 'jobs' }) });
  const openId = route.value.open;

  return (
    <div class="split">
      <section class="pane-list" aria-label="Jobs">
        <StartForm onStarted={(id) => (void load(), open(id))} />
        <div class="scroll">
          {(jobs ?? []).map((job) => (
            <Row key={job.id} id={job.id} isOpen={job.id === openId} onOpen={() => open(job.id)}>
              <span class="mono cut grow">{commands.value.get(job.id) ?? shortId(job.id)}</span>
              <span class="quiet">{duration((job.finished_at_ms ?? Date.now()) - job.started_at_ms)}</span>
              <Badge kind={job.status}>{job.status}</Badge>
            </Row>
          ))}
        </div>
      </section>
      <section class="pane-main" aria-label="Job">
        {openId === undefined ? (
          <Empty title={jobs?.length ? 'Pick a job' : 'No background jobs'}>
            {error !== undefined && <FailureCard error={error} />}
            <p>A job runs on when the call that started it has returned, and shows its output here. To start one:</p>
            <Command text="workcell call shell::exec_bg command='find . -name package.json'" />
          </Empty>
        ) : (
          <JobCard key={openId} id={openId} />
        )}
      </section>
    </div>
  );
}

async function learnCommands(jobs: JobSummary[]): Promise<void> {
  const listed = new Set(jobs.map(({ id }) => id));
  const unknown = jobs.filter(({ id }) => !commands.value.has(id)).slice(0, COMMANDS_A_ROUND);
  for (const { id } of unknown) {
    const reply = await call<{ job: JobRecord }>('shell::status', { job_id: id }).catch(() => undefined);
    const known = [...commands.value].filter(([one]) => listed.has(one));
    commands.value = new Map(known).set(id, reply?.job.argv.join(' ') ?? shortId(id));
  }
}

function StartForm({ onStarted }: { onStarted: (id: string) => void }) {
  const [line, setLine] = useState('');
  const [hasTerminal, setHasTerminal] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const start = () => {
    const terminal = hasTerminal && { terminal: FIRST_SIZE, ring_bytes: TERMINAL_RING_BYTES };
    return call<{ job_id: string }>('shell::exec_bg', { command: line, ...terminal }).then(({ job_id }) => {
      // The terminal of this page is the first: it answers all that the program asks.
      if (hasTerminal) keepShownOffset(job_id, 0);
      setLine('');
      setError(undefined);
      (document.activeElement as HTMLElement | null)?.blur();
      onStarted(job_id);
    }, setError);
  };
  return (
    <form
      class="start-job"
      onSubmit={(event) => {
        event.preventDefault();
        if (line.trim() !== '') void start();
      }}
    >
      <input
        data-search
        class="search mono"
        aria-label="Command to start"
        placeholder="Start a command   /"
        autocomplete="off"
        spellcheck={false}
        value={line}
        onInput={(event) => setLine(event.currentTarget.value)}
      />
      <label title="Run it in a terminal, as shells and editors want one">
        <input
          type="checkbox"
          checked={hasTerminal}
          onChange={(event) => setHasTerminal(event.currentTarget.checked)}
        />{' '}
        terminal
      </label>
      {error !== undefined && <FailureCard error={error} />}
    </form>
  );
}
