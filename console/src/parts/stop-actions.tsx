/** Stop buttons for a call, a job, or everything of an agent. Each asks once; the engine logs each. */
import type { ShownCall } from '../call-log.ts';
import type { JobRow } from '../jobs/job-record.ts';
import { loadCalls, type CallerRow } from '../live/calls.ts';
import { runningJobs, sandboxes } from '../live/machines.ts';
import { Ask } from './ask.tsx';
import { counted } from '../format.ts';
import { call } from '../session.ts';

type OnError = (error: unknown) => void;
const ignore = () => {};

export function CancelCall({ call: one, onError = ignore }: { call: ShownCall; onError?: OnError }) {
  return (
    <Ask
      label="Cancel"
      title="Ends the call, with what it runs"
      question="Cancel this call?"
      confirm="Cancel the call"
      isDanger
      onYes={() => call('engine::calls::cancel', { id: one.id }).then(loadCalls, onError)}
    />
  );
}

export function EndJob({ job, onError = ignore }: { job: Pick<JobRow, 'id' | 'worker'>; onError?: OnError }) {
  return (
    <Ask
      label="Kill"
      title="SIGKILL, to the job and everything it started"
      question="Kill the job and everything it started?"
      confirm="Kill it"
      isDanger
      onYes={() => call(`${job.worker}::kill`, { job_id: job.id }).then(() => onError(undefined), onError)}
    />
  );
}

export function PauseCaller({ caller: { id, label, paused }, onError }: { caller: CallerRow; onError: OnError }) {
  const set = (on: boolean) => call('engine::callers::pause', { id, on }).then(loadCalls, onError);
  if (paused) {
    return (
      <button type="button" class="primary" onClick={() => void set(false)}>
        Resume
      </button>
    );
  }
  return (
    <Ask
      label="Pause"
      title="Its new calls wait until you resume it"
      question={`Pause ${label}? Its new calls wait.`}
      confirm="Pause it"
      onYes={() => set(true)}
    />
  );
}

export function StopCaller({
  caller: { id, label, running, waiting },
  onError,
}: {
  caller: CallerRow;
  onError: OnError;
}) {
  const jobs = runningJobs().filter((job) => job.caller?.id === id);
  const machines = (sandboxes.value ?? []).filter((one) => one.caller?.id === id);
  const stop = async () => {
    try {
      await call('engine::callers::stop', { id });
      await Promise.all([
        ...jobs.map((job) => call(`${job.worker}::kill`, { job_id: job.id })),
        ...machines.map(({ sandbox_id }) => call('sandbox::stop', { sandbox_id })),
      ]);
      await loadCalls();
    } catch (error) {
      onError(error);
    }
  };
  const all = [
    counted(running + waiting, 'call', 'calls'),
    counted(jobs.length, 'job', 'jobs'),
    counted(machines.length, 'sandbox', 'sandboxes'),
  ];
  return (
    <Ask
      label="Stop everything"
      title="Ends its calls, its jobs and its sandboxes"
      question={`Stop everything of ${label}: ${all.join(', ')}?`}
      confirm="Stop everything"
      isDanger
      onYes={stop}
    />
  );
}
