/**
 * Background jobs on the host and in sandboxes: the running ones first, a line to start one, and the one that is open.
 */
import { useState } from 'preact/hooks';

import { duration, shortId } from '../../format.ts';
import { commandOf, outcomeOf, type JobRow } from '../../jobs/job-record.ts';
import { useListKeys } from '../../keys.ts';
import { jobs, jobsError, loadJobs, runningJobs } from '../../live/machines.ts';
import { nodeOfJob, nodes } from '../../live/nodes.ts';
import { NodeFilter } from '../../nodes/node-filter.tsx';
import { FailureCard } from '../../parts/failure-card.tsx';
import { Badge, Command, Empty, Row } from '../../parts/layout.tsx';
import { Split } from '../../parts/split.tsx';
import { goTo, route } from '../../route.ts';
import { call } from '../../session.ts';
import { keepShownOffset } from '../../terminal/shown-offsets.ts';
import { useSeconds } from '../../watching.ts';
import { JobCard } from './job-card.tsx';

/** Size until the page shows the terminal. */
export const FIRST_SIZE = { cols: 80, rows: 24 };
/** Output of a terminal that a reload of the page shows. */
export const TERMINAL_RING_BYTES = 4 * 2 ** 20;

export function JobsPage() {
  const { node } = route.value;
  const listed = (jobs.value ?? []).filter((job) => node === undefined || nodeOfJob(job) === node);
  useSeconds(runningJobs().length > 0);
  const within = node === undefined ? {} : { node };
  const open = (id: string) => goTo({ page: 'jobs', open: id, ...within });
  useListKeys({ keys: listed.map(({ id }) => id), open, close: () => goTo({ page: 'jobs', ...within }) });
  const openId = route.value.open;

  return (
    <Split
      page="jobs"
      names={['Jobs', 'Job']}
      isOpen={openId !== undefined}
      list={
        <>
          <h1 class="hidden">Jobs</h1>
          <StartForm onStarted={(id) => (void loadJobs('shell'), open(id))} />
          <NodeFilter />
          <div class="scroll">
            {listed.map((job) => (
              <JobLines key={job.id} job={job} isOpen={job.id === openId} onOpen={() => open(job.id)} />
            ))}
          </div>
        </>
      }
    >
      {openId === undefined ? (
        <Empty title={listed.length > 0 ? 'Pick a job' : 'No background jobs'}>
          {jobsError.value !== undefined && <FailureCard error={jobsError.value} />}
          <p>A job runs on when the call that started it has returned, and shows its output here. To start one:</p>
          <Command text="workcell call shell::exec_bg command='find . -name package.json'" />
        </Empty>
      ) : (
        <OpenJob id={openId} />
      )}
    </Split>
  );
}

/** A link may name a job before the list is here; for a job in neither list the page asks the shell worker. */
function OpenJob({ id }: { id: string }) {
  if (jobs.value === undefined && jobsError.value === undefined) return null;
  const worker = jobs.value?.find((job) => job.id === id)?.worker ?? 'shell';
  return <JobCard key={`${worker} ${id}`} id={id} worker={worker} />;
}

interface JobLinesProps {
  job: JobRow;
  isOpen: boolean;
  onOpen: () => void;
}

/** The command first; below it the caller and the time. */
export function JobLines({ job, isOpen, onOpen }: JobLinesProps) {
  const { id, caller, sandbox_id: machine } = job;
  const place = machine === undefined ? '' : ` · in ${shortId(machine)}`;
  return (
    <Row id={id} class="two-lines" isOpen={isOpen} onOpen={onOpen}>
      <span class="mono cut grow">{commandOf(job)}</span>
      <Badge kind={job.status}>{outcomeOf(job)}</Badge>
      <span class="quiet cut grow">
        {caller?.label ?? 'an unnamed caller'}
        {place}
        {nodes.value.length > 0 && ` · on ${nodeOfJob(job)}`}
      </span>
      <span class="quiet">{duration((job.finished_at_ms ?? Date.now()) - job.started_at_ms)}</span>
    </Row>
  );
}

function StartForm({ onStarted }: { onStarted: (id: string) => void }) {
  const [line, setLine] = useState('');
  const [hasTerminal, setHasTerminal] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const start = () => {
    const terminal = hasTerminal && { terminal: FIRST_SIZE, ring_bytes: TERMINAL_RING_BYTES };
    return call<{ job_id: string }>('shell::exec_bg', { command: line, ...terminal }).then(({ job_id }) => {
      // This page has the first terminal of the job, so it answers every query of the program.
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
