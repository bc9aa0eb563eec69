/** One sandbox: its use against its limits, its terminal and jobs, commands, and files. */
import { useState } from 'preact/hooks';

import { bytes, counted, duration, shortId } from '../../format.ts';
import { ageMs, idleText, jobs, loadSandboxes, type ShownSandbox } from '../../live/machines.ts';
import { Ask } from '../../parts/ask.tsx';
import { FailureCard } from '../../parts/failure-card.tsx';
import { Badge, Facts } from '../../parts/layout.tsx';
import { call } from '../../session.ts';
import { keepShownOffset } from '../../terminal/shown-offsets.ts';
import { JobCard } from '../jobs/job-card.tsx';
import { FIRST_SIZE, JobLines, TERMINAL_RING_BYTES } from '../jobs/jobs.tsx';
import { SandboxConsole } from './sandbox-console.tsx';
import { SandboxFiles } from './sandbox-files.tsx';

const MIB = 1_048_576;
/** The image's interactive shell. */
const SHELL = ['sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash || exec sh'];

export function SandboxCard({ sandbox }: { sandbox: ShownSandbox }) {
  const { sandbox_id: id, usage, busyCpus, cpus, caller } = sandbox;
  const [error, setError] = useState<unknown>(undefined);
  const stop = () => call('sandbox::stop', { sandbox_id: id, wait: true }).then(loadSandboxes, setError);
  return (
    <div class="scroll pad" tabIndex={0} role="region" aria-label="Sandbox facts">
      <header class="title">
        <h1 class="mono cut" title={id}>
          {sandbox.name ?? sandbox.image} <span class="quiet">{shortId(id)}</span>
        </h1>
        {sandbox.isolation && <Badge kind={sandbox.isolation}>{sandbox.isolation}</Badge>}
        <span class="controls">
          <Ask
            label="Stop"
            question="Stop the sandbox and delete everything in it?"
            confirm="Stop it"
            isDanger
            onYes={stop}
          />
        </span>
      </header>
      {error !== undefined && <FailureCard error={error} />}
      <Facts
        rows={[
          ['image', sandbox.image],
          ['created by', caller?.label ?? 'an unnamed caller'],
          ['age', duration(ageMs(sandbox))],
          ['idle', `${idleText(sandbox)}${stopText(sandbox)}`],
          ['memory', <Meter used={usage?.memory_bytes} limit={(sandbox.memory_mb ?? 0) * MIB} spell={bytes} />],
          ['disk', <Meter used={usage?.disk_bytes} limit={(sandbox.disk_mb ?? 0) * MIB} spell={bytes} />],
          ['processors', <Meter used={usage && (busyCpus ?? 0)} limit={cpus ?? 1} spell={spellCpus} />],
          ['processor time', usage ? duration(usage.cpu_ms) : 'not reported'],
          ['processes', usage?.pids ?? 'not reported'],
          ['network', sandbox.network ? 'yes' : 'none'],
        ]}
      />
      <SandboxTerminal id={id} onError={setError} />
      <SandboxConsole id={id} />
      <SandboxFiles id={id} />
    </div>
  );
}

/** Jobs of the sandbox, with one open, and a button that starts a shell in a terminal. */
function SandboxTerminal({ id, onError }: { id: string; onError: (error: unknown) => void }) {
  const own = (jobs.value ?? []).filter((job) => job.sandbox_id === id);
  const [openId, setOpenId] = useState<string | undefined>(undefined);
  const start = () => {
    const terminal = { terminal: FIRST_SIZE, ring_bytes: TERMINAL_RING_BYTES };
    return call<{ job_id: string }>('sandbox::exec_bg', { sandbox_id: id, argv: SHELL, ...terminal }).then(
      ({ job_id }) => {
        keepShownOffset(job_id, 0);
        setOpenId(job_id);
      },
      onError,
    );
  };
  return (
    <section class="sandbox-jobs" aria-label="Jobs of the sandbox">
      <p class="actions">
        <button type="button" class="primary" onClick={() => void start()}>
          Open a terminal
        </button>
        <span class="quiet">{own.length === 0 ? 'No jobs run in it.' : counted(own.length, 'job', 'jobs')}</span>
      </p>
      {own.map((job) => (
        <JobLines
          key={job.id}
          job={job}
          isOpen={job.id === openId}
          onOpen={() => setOpenId(job.id === openId ? undefined : job.id)}
        />
      ))}
      {openId !== undefined && (
        <div class="card sandbox-job">
          <JobCard key={openId} id={openId} worker="sandbox" />
        </div>
      )}
    </section>
  );
}

function stopText({ idle_deadline_secs: left }: ShownSandbox): string {
  return left == null ? '' : `, stops in ${duration(left * 1_000 + 1)}`;
}

const spellCpus = (count: number) => (Number.isInteger(count) ? String(count) : count.toFixed(2));

interface MeterProps {
  used: number | undefined;
  limit: number;
  spell: (value: number) => string;
}

function Meter({ used, limit, spell }: MeterProps) {
  if (used === undefined) return <>{spell(limit)} at most</>;
  const part = Math.min(1, used / Math.max(limit, Number.EPSILON));
  return (
    <span class="meter">
      <i style={{ width: `${100 * part}%` }} data-full={part > 0.9 ? '' : undefined} />
      <span>
        {spell(used)} of {spell(limit)}
      </span>
    </span>
  );
}
