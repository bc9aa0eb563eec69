/** At a glance: connected agents, running and waiting calls, changed files, refusals. */
import { filesOf } from '../changes/by-file.ts';
import { callerOf } from '../changes/records.ts';
import type { ShownCall } from '../call-log.ts';
import { duration, moment, since } from '../format.ts';
import { commandOf, type JobRow } from '../jobs/job-record.ts';
import { callers, callLog, openCalls } from '../live/calls.ts';
import { feed } from '../live/changes.ts';
import { runningJobs } from '../live/machines.ts';
import { Approvals, useApprovals } from '../parts/approvals.tsx';
import { Badge, Command, Empty } from '../parts/layout.tsx';
import { ChangedCounts, OutcomeBadge } from '../parts/call-parts.tsx';
import { Panel, PanelRow } from '../parts/panel.tsx';
import { hashOf } from '../route.ts';
import { useSeconds } from '../watching.ts';
import { CancelCall, EndJob } from '../parts/stop-actions.tsx';
import { Agents } from './home-agents.tsx';

const MOST_ROWS = 8;
/** True before the first call of an agent: the page then explains how to connect one. */
const isQuiet = () => callers.value.length === 0 && callLog.value.ended.length === 0;

export function HomePage() {
  useSeconds(true);
  const asked = useApprovals();
  if (isQuiet()) return <Teach />;
  const open = openCalls();
  const isAsked = ({ id }: ShownCall) => asked.approvals.some((one) => one.id === id);
  return (
    <div class="scroll pad home" tabIndex={0} role="region" aria-label="Home">
      <h1 class="hidden">Home</h1>
      <Agents />
      <Approvals {...asked} />
      <div class="home-columns">
        <div>
          <Running calls={open.filter(({ outcome }) => outcome === 'running')} />
          <Waiting calls={open.filter((one) => one.outcome === 'waiting' && !isAsked(one))} />
        </div>
        <div>
          <ChangedFiles />
          <Refused />
        </div>
      </div>
    </div>
  );
}

function Running({ calls }: { calls: ShownCall[] }) {
  // A command that an agent waits for is a call and a job: one row says both.
  const isCall = (job: JobRow) =>
    calls.some(({ caller_id: id, line }) => id === job.caller?.id && line === commandOf(job));
  const jobs = runningJobs().filter((job) => !isCall(job));
  return (
    <Panel title="Running now" count={calls.length + jobs.length} empty="Nothing runs.">
      {calls.slice(0, MOST_ROWS).map((one) => (
        <PanelRow
          key={one.key}
          href={hashOf({ page: 'calls', open: one.key })}
          what={one.line ?? one.functionKey}
          by={`${one.caller} · ${one.functionKey}`}
          end={<span class="mono">{duration(Math.max(1, Date.now() - one.started_at_ms))}</span>}
          action={<CancelCall call={one} />}
        />
      ))}
      {jobs.slice(0, MOST_ROWS).map((job) => (
        <PanelRow
          key={job.id}
          href={hashOf({ page: 'jobs', open: job.id })}
          what={commandOf(job)}
          by={`${job.caller?.label ?? 'an unnamed caller'} · background job`}
          end={<span class="mono">{duration(Math.max(1, Date.now() - job.started_at_ms))}</span>}
          action={<EndJob job={job} />}
        />
      ))}
    </Panel>
  );
}

/** Shown only while a call waits for a person. */
function Waiting({ calls }: { calls: ShownCall[] }) {
  if (calls.length === 0) return null;
  return (
    <Panel title="Waiting for you" count={calls.length}>
      {calls.slice(0, MOST_ROWS).map((one) => (
        <PanelRow
          key={one.key}
          href={hashOf({ page: 'calls', open: one.key })}
          what={one.line ?? one.functionKey}
          by={`${one.caller} · ${one.functionKey}`}
          end={<OutcomeBadge call={one} />}
          action={<CancelCall call={one} />}
        />
      ))}
    </Panel>
  );
}

function ChangedFiles() {
  if (!feed.value) return null;
  const files = filesOf(feed.value.records);
  return (
    <Panel
      title="Changed files"
      count={files.length}
      empty="No file was changed through a function."
      more={{ page: 'changes' }}
    >
      {files.slice(0, MOST_ROWS).map(({ path, kind, added, removed, records: [latest] }) => (
        <PanelRow
          key={path}
          href={hashOf({ page: 'changes', open: `file:${path}` })}
          what={path}
          by={`${callerOf(latest!)} · ${moment(latest!.ts)}`}
          end={
            <>
              <ChangedCounts changed={{ files: 1, added, removed }} />
              {kind !== 'modified' && <Badge kind={kind === 'deleted' ? 'delete' : 'ok'}>{kind}</Badge>}
            </>
          }
        />
      ))}
    </Panel>
  );
}

function Refused() {
  const refused = callLog.value.ended.filter(({ outcome }) => outcome === 'refused');
  return (
    <Panel title="Refused" count={refused.length} empty="Nothing was refused." more={{ page: 'calls' }}>
      {refused.slice(0, MOST_ROWS).map((one) => (
        <PanelRow
          key={one.key}
          href={hashOf({ page: 'calls', open: one.key })}
          what={one.line ?? one.functionKey}
          by={`${one.caller} · ${one.functionKey} · ${since(one.started_at_ms)}`}
          end={<OutcomeBadge call={one} />}
        />
      ))}
    </Panel>
  );
}

function Teach() {
  return (
    <Empty title="No agent has called yet">
      <p>Give an agent the tools, and watch here what it runs, what it changes and what is refused:</p>
      <Command text={`claude mcp add --transport http workcell ${location.origin}/mcp`} />
      <p>Or make a call from a terminal:</p>
      <Command text="workcell call coder::search query=TODO" />
    </Empty>
  );
}
