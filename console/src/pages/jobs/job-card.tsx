/** One job: its state, its live output, and controls for input and signals. */
import { useEffect, useState } from 'preact/hooks';

import { clock, duration } from '../../format.ts';
import type { FollowState, OutputView } from '../../jobs/job-follower.ts';
import { commandOf, outcomeOf, type JobRecord, type JobWorker } from '../../jobs/job-record.ts';
import { useJobOutput } from '../../jobs/use-job-output.ts';
import { jobs } from '../../live/machines.ts';
import { Ask } from '../../parts/ask.tsx';
import { FailureCard } from '../../parts/failure-card.tsx';
import { Badge, Facts } from '../../parts/layout.tsx';
import { EndJob } from '../../parts/stop-actions.tsx';
import { call } from '../../session.ts';
import { useSeconds } from '../../watching.ts';
import { JobOutput } from './job-output.tsx';
import { JobTerminal } from './job-terminal.tsx';

const SIGNALS = ['INT', 'HUP', 'QUIT', 'USR1', 'USR2'];

export function JobCard({ id, worker }: { id: string; worker: JobWorker }) {
  const [job, setJob] = useState<JobRecord | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [view, setView] = useState<OutputView | undefined>(undefined);
  const { state, lostBytes, follower } = useJobOutput({ id, worker }, view);
  useSeconds(job?.status === 'running');
  // Output comes through the channel, so the record is loaded only at the start and at the end.
  useEffect(() => {
    const asked = call<{ job: JobRecord }>(`${worker}::status`, { job_id: id });
    void asked.then((reply) => setJob(reply.job), setError);
  }, [id, state.kind === 'ended']);
  if (!job) return error === undefined ? null : <FailureCard error={error} />;

  const takesInput = state.kind === 'live' && state.hasInput;
  const views = { takesInput, follower, onView: setView };
  return (
    <div class="column pad job">
      <header class="title">
        <h1 class="mono cut">{commandOf(job)}</h1>
        <Badge kind={job.status}>{outcomeOf(job)}</Badge>
        {job.status === 'running' && <Controls id={id} worker={worker} onError={setError} />}
      </header>
      <Facts
        rows={[
          ['started', `${clock(job.started_at_ms)} by ${callerOf(id)}`],
          ['for', duration((job.finished_at_ms ?? Date.now()) - job.started_at_ms)],
          ['exit code', job.exit_code ?? (job.status === 'running' ? 'still running' : 'none: a signal ended it')],
          ['id', <span class="mono">{job.id}</span>],
        ]}
      />
      <Notice state={state} lostBytes={lostBytes} />
      {error !== undefined && <FailureCard error={error} />}
      {job.terminal ? <JobTerminal jobId={id} {...views} /> : <JobOutput {...views} />}
    </div>
  );
}

function callerOf(id: string): string {
  return jobs.value?.find((job) => job.id === id)?.caller?.label ?? 'an unnamed caller';
}

interface ControlsProps {
  id: string;
  worker: JobWorker;
  onError: (error: unknown) => void;
}

function Controls({ id, worker, onError }: ControlsProps) {
  const send = (signal: string) =>
    void call(`${worker}::kill`, { job_id: id, signal }).then(() => onError(undefined), onError);
  return (
    <span class="controls">
      <select
        aria-label="Send a signal"
        value=""
        onChange={({ currentTarget }) => {
          send(currentTarget.value);
          currentTarget.value = '';
        }}
      >
        <option value="" disabled>
          Signal …
        </option>
        {SIGNALS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Ask
        label="Stop"
        title="SIGTERM: asks it to end"
        question="Ask the job to end?"
        confirm="Stop it"
        onYes={() => send('TERM')}
      />
      <EndJob job={{ id, worker }} onError={onError} />
    </span>
  );
}

/** Explains why the page does not show all of the output. */
function Notice({ state, lostBytes }: { state: FollowState; lostBytes: number }) {
  return (
    <>
      {state.kind === 'broken' && <p class="notice">Not connected to the job: {state.reason}. Trying again …</p>}
      {state.kind === 'failed' && <FailureCard error={state.error} />}
      {lostBytes > 0 && (
        <p class="notice">
          {lostBytes.toLocaleString('en')} bytes of output are lost: the server keeps the last of it only.
        </p>
      )}
    </>
  );
}
