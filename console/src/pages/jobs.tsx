/** Background jobs of the shell worker: state, output, and how to kill them. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { clock, duration, shortId } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge, Command, Empty, Facts, Row } from '../parts/layout.tsx';
import { goTo, route } from '../route.ts';
import { call } from '../session.ts';
import { useSeconds, useWatch } from '../watching.ts';

interface JobSummary {
  id: string;
  started_at_ms: number;
  finished_at_ms?: number | null;
  status: 'running' | 'finished' | 'killed' | 'failed';
  exit_code?: number | null;
  stdout_truncated: boolean;
  stderr_truncated: boolean;
}

interface JobRecord extends JobSummary {
  argv: string[];
  stdout: string;
  stderr: string;
}

/** The list of jobs omits their commands, and one answer has all the output of a job: this many are fetched a round. */
const COMMANDS_A_ROUND = 4;
/** Within this distance of the end of the output, the view follows it. */
const FOLLOWED_PX = 40;

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
  const [error, setError] = useState<unknown>(undefined);
  const start = () =>
    call<{ job_id: string }>('shell::exec_bg', { command: line }).then(({ job_id }) => {
      setLine('');
      setError(undefined);
      (document.activeElement as HTMLElement | null)?.blur();
      onStarted(job_id);
    }, setError);
  return (
    <form
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
      {error !== undefined && <FailureCard error={error} />}
    </form>
  );
}

function JobCard({ id }: { id: string }) {
  const [job, setJob] = useState<JobRecord | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const load = () =>
    call<{ job: JobRecord }>('shell::status', { job_id: id }).then((reply) => setJob(reply.job), setError);
  useWatch('shell::watch', async () => {
    if (job === undefined || job.status === 'running') await load();
  });
  const kill = () => call('shell::kill', { job_id: id }).then(load, setError);
  if (!job) return error === undefined ? null : <FailureCard error={error} />;

  return (
    <div class="column pad">
      <header class="title">
        <h1 class="mono cut">{job.argv.join(' ')}</h1>
        <Badge kind={job.status}>{job.status}</Badge>
        {job.status === 'running' && (
          <button type="button" class="danger" onClick={() => void kill()}>
            Kill
          </button>
        )}
      </header>
      <Facts
        rows={[
          ['started', clock(job.started_at_ms)],
          ['for', duration((job.finished_at_ms ?? Date.now()) - job.started_at_ms)],
          ['exit code', job.exit_code ?? (job.status === 'running' ? 'still running' : 'none: a signal ended it')],
          ['id', <span class="mono">{job.id}</span>],
        ]}
      />
      {error !== undefined && <FailureCard error={error} />}
      <Output name="stdout" text={job.stdout} isCut={job.stdout_truncated} />
      <Output name="stderr" text={job.stderr} isCut={job.stderr_truncated} />
    </div>
  );
}

function Output({ name, text, isCut }: { name: string; text: string; isCut: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const isFollowed = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isFollowed.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  if (text === '') return <p class="quiet">Nothing on {name}.</p>;
  return (
    <section class="output">
      <h2>
        {name} {isCut && <Badge kind="failed">cut</Badge>}
      </h2>
      <pre
        ref={box}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isFollowed.current = scrollHeight - scrollTop - clientHeight < FOLLOWED_PX;
        }}
      >
        {text}
      </pre>
    </section>
  );
}
