/** One open change: every deletion first, then its other edits, with Approve and Discard. */
import { useEffect, useState } from 'preact/hooks';

import { OPEN_PREFIX, type ChangeDiff, type OpenChange } from '../changes/open-change.ts';
import { CallFailure } from '../bus.ts';
import { bytes, moment } from '../format.ts';
import { ChangedFileRow } from '../parts/changed-file.tsx';
import { FailureCard } from '../parts/failure-card.tsx';
import { KeyForm } from '../parts/key-form.tsx';
import { Badge, Row } from '../parts/layout.tsx';
import { goTo } from '../route.ts';
import { call, giveToken } from '../session.ts';

const COMMIT_MS = 600_000;
const WANTS_KEY = 'W218';

export function OpenChangeCard({ change, onDone }: { change: OpenChange; onDone: () => void }) {
  const name = change.change;
  const [diff, setDiff] = useState<ChangeDiff | undefined>(undefined);
  // Also after a refusal: the engine may have refused because the version changed.
  const { end, error, setError, isBusy, wanted } = useEnd(name, { onDone, onFailure: () => load() });
  const load = () => void call<ChangeDiff>('change::diff', { change: name }).then(setDiff, setError);
  useEffect(load, [name, change.files_changed, change.bytes]);
  const more = async () => {
    const page = await call<ChangeDiff>('change::diff', { change: name, after: diff!.next_after });
    // Keeps the version of the first page: the user has not seen later changes.
    setDiff({ ...page, version: diff!.version, files: [...diff!.files, ...page.files] });
  };
  /** Approves only the version that the page shows. */
  const approve = (more: object) => end('change::commit', { ...more, expected_version: diff!.version });
  const isMergeable = diff?.conflicts.every(({ mergeable }) => mergeable) ?? true;
  return (
    <article class="pad" aria-label={`Change ${name}`}>
      <header>
        <h1 class="mono">{name}</h1>
        <p class="quiet">
          begun {moment(change.began_at_ms)} · {change.files_changed} entries · {bytes(change.bytes)}
          {change.busy_commands > 0 && ` · ${change.busy_commands} commands run in it`}
        </p>
        {change.note !== '' && <p>{change.note}</p>}
        {change.state === 'waiting-for-approval' && <Badge kind="write">waits for approval</Badge>}
        <LimitBadges of={change} />
      </header>
      <p class="actions">
        <button type="button" class="primary" disabled={isBusy || !diff} onClick={() => void approve({})}>
          Approve
        </button>
        {diff && diff.conflicts.length > 0 && isMergeable && (
          <button type="button" disabled={isBusy} onClick={() => void approve({ on_conflict: 'merge' })}>
            Approve and merge
          </button>
        )}
        <button type="button" class="danger" disabled={isBusy} onClick={() => void end('change::discard', {})}>
          Discard
        </button>
      </p>
      {error !== undefined && <FailureCard error={error} />}
      {wanted && (
        <KeyForm
          why="Approval needs the operator's key."
          action="Approve with this key"
          onKey={(key) => (giveToken(key), approve(wanted))}
        />
      )}
      {diff && <Effects diff={diff} />}
      {diff?.truncated && (
        <button type="button" onClick={() => void more().catch(setError)}>
          More files
        </button>
      )}
    </article>
  );
}

/** Commits or discards the change, and keeps why that failed. */
function useEnd(name: string, { onDone, onFailure }: { onDone: () => void; onFailure: () => void }) {
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  /** The approval to repeat once the user has entered the operator's key. */
  const [wanted, setWanted] = useState<object | undefined>(undefined);
  /** True if the engine accepted it without the operator's key. */
  const end = async (functionId: string, request: object): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await call(functionId, { change: name, ...request }, { timeoutMs: COMMIT_MS });
      goTo({ page: 'changes' });
      onDone();
      return true;
    } catch (thrown) {
      setError(thrown);
      onFailure();
      const wantsKey = thrown instanceof CallFailure && thrown.fields.code === WANTS_KEY;
      if (wantsKey) setWanted(request);
      return !wantsKey;
    } finally {
      setBusy(false);
    }
  };
  return { end, error, setError, isBusy, wanted };
}

function Effects({ diff }: { diff: ChangeDiff }) {
  const { summary, deleted, conflicts, left_out, git, trees, files, commands, hosts, more_activity } = diff;
  const counts = Object.entries(summary).filter(([name, count]) => count > 0 && name !== 'bytes');
  return (
    <>
      <p>{counts.map(([name, count]) => `${count} ${name}`).join(', ') || 'It changes nothing.'}</p>
      <Names title="Deleted" of={deleted} />
      <Names title="Conflicts" of={conflicts.map(({ path, kind }) => `${path} (${kind})`)} />
      <Names title="Left out" of={left_out.map(({ path, why }) => `${path} (${why})`)} />
      <Names
        title="Git"
        of={git.flatMap(({ refs }) => refs.map(({ name, from, to }) => `${name} ${from ?? 'none'} → ${to ?? 'none'}`))}
      />
      <Names title="New folders" of={trees.map((tree) => `${tree.path} (${tree.files} files, ${bytes(tree.bytes)})`)} />
      <Names title="Commands that ran" of={commands.map(({ command, at_ms }) => `${moment(at_ms)} ${command}`)} />
      <Names title="Hosts asked for" of={hosts.map(({ host, verdict }) => `${host} (${verdict})`)} />
      {more_activity && <p class="quiet">There were more commands or hosts than are kept.</p>}
      {files
        .filter(({ kind }) => kind !== 'deleted' && kind !== 'tree')
        .map((file) => (
          <ChangedFileRow key={file.path} file={file} />
        ))}
    </>
  );
}

function Names({ title, of }: { title: string; of: string[] }) {
  if (of.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="mono">
        {of.map((one, at) => (
          <li key={at}>{one}</li>
        ))}
      </ul>
    </section>
  );
}

interface OpenChangeRowProps {
  one: OpenChange;
  isOpen: boolean;
  onOpen: (key: string) => void;
}

export function OpenChangeRow({ one, isOpen, onOpen }: OpenChangeRowProps) {
  const key = OPEN_PREFIX + one.change;
  return (
    <Row id={key} class="change-row" isOpen={isOpen} onOpen={() => onOpen(key)}>
      <span class="change-line">
        <span class="mono cut grow">{one.change}</span>
        <span class="quiet">{moment(one.began_at_ms)}</span>
      </span>
      <span class="change-line">
        <span class="quiet cut grow">{one.note || `${one.files_changed} entries`}</span>
        <LimitBadges of={one} />
        <Badge kind={one.state === 'open' ? 'plain' : 'write'}>
          {one.state === 'open' ? 'open change' : 'waits for approval'}
        </Badge>
      </span>
    </Row>
  );
}

function LimitBadges({ of: { is_stale: isStale, is_over_limit: isOverLimit } }: { of: OpenChange }) {
  return (
    <>
      {isStale && <Badge kind="plain">stale</Badge>}
      {isOverLimit && <Badge kind="failed">over max_bytes</Badge>}
    </>
  );
}
