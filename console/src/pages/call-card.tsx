/** One call: caller, time and outcome; on demand its payload and result, as a diff if it changed files. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { Change } from '../../../src/protocol/change.ts';
import { readErrorBody, toErrorBody } from '../../../src/protocol/error-body.ts';
import { CallFailure } from '../bus.ts';
import type { ShownCall } from '../call-log.ts';
import { duration, preciseClock } from '../format.ts';
import { fieldOf, textOf } from '../loose-json.ts';
import { DiffView } from '../parts/diff-view.tsx';
import { FailureCard } from '../parts/failure-card.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { CallLine, OutcomeBadge } from '../parts/call-parts.tsx';
import { Facts } from '../parts/layout.tsx';
import { openWith } from '../prefill.ts';
import { hashOf } from '../route.ts';
import { busState, call, keepsContents } from '../session.ts';
import { CancelCall } from '../parts/stop-actions.tsx';

interface Recorded {
  value: unknown;
  cut: boolean;
  masked: boolean;
}

interface Contents {
  payload: Recorded | null;
  outcome: (Recorded & { kind: 'result' | 'error' }) | null;
  changes: Change[] | null;
}

export function CallCard({ shown, onClose }: { shown: ShownCall; onClose: () => void }) {
  const [error, setError] = useState<unknown>(undefined);
  return (
    <aside class="side pad" aria-label="Call">
      <header class="title">
        <h1 class="mono cut">{shown.functionKey}</h1>
        <OutcomeBadge call={shown} />
        {isOpen(shown) && <CancelCall call={shown} onError={setError} />}
        <button type="button" class="plain close" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {shown.line !== null && (
        <p class="mono call-line">
          <CallLine call={shown} />
        </p>
      )}
      {error !== undefined && <FailureCard error={error} />}
      {shown.outcome === 'waiting' && <p class="note">It waits: its caller is paused. Resume it on Home.</p>}
      <Facts
        rows={[
          ['started', preciseClock(shown.started_at_ms)],
          [isOpen(shown) ? 'so far' : 'took', duration(shown.duration_ms)],
          [
            'called by',
            <a href={hashOf({ page: 'calls', caller: shown.caller_id })} title="Only the calls of this caller">
              {shown.caller} ({shown.principal.kind})
            </a>,
          ],
          ['made for call', shown.via ?? 'none'],
          ['served by', shown.worker ?? 'no worker'],
          ...(shown.node === null ? [] : [['ran on', nodeLink(shown.node)] as [string, ComponentChildren]]),
        ]}
      />
      <ContentsView key={shown.key} shown={shown} />
      <p class="quiet small">
        <span class="mono">{shown.id}</span>
        {shown.code && (
          <>
            {' · '}
            <a href={`/docs/errors#${shown.code}`}>what {shown.code} means</a>
          </>
        )}
      </p>
    </aside>
  );
}

function nodeLink(node: string) {
  return <a href={hashOf({ page: 'nodes', open: node })}>{node}</a>;
}

function isOpen({ outcome }: ShownCall): boolean {
  return outcome === 'running' || outcome === 'waiting';
}

function ContentsView({ shown }: { shown: ShownCall }) {
  const contents = useContents(shown);
  if (contents === undefined) return null;
  if (contents === 'not kept') return <NotKept functionKey={shown.functionKey} />;

  const { payload, outcome, changes } = contents;
  const failure = outcome && failureIn(outcome);
  const again = (fields: object) => openWith(shown.functionKey, { ...(payload?.value as object), ...fields });
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => again({})} disabled={!payload || payload.cut}>
          Open in the form
        </button>
        {payload?.cut && <span class="quiet">The stored payload is truncated, so the call cannot be repeated.</span>}
        {payload?.masked && <span class="quiet">Masked values have to be filled in.</span>}
      </p>
      {changes && (
        <section class="outcome" aria-label="Changes">
          <h2>Changes</h2>
          <DiffView changes={changes} />
        </section>
      )}
      {failure && (
        <FailureCard
          error={failure}
          onFix={payload?.cut ? undefined : again}
          fixLabel="Open in the form with the fix"
        />
      )}
      {payload ? (
        <Part name="Payload" part={payload} isFolded={changes !== null}>
          <JsonView value={payload.value} />
        </Part>
      ) : (
        <p class="quiet">Its payload came before this console was open.</p>
      )}
      {outcome && !failure && (
        <Part name="Result" part={outcome} isFolded={changes !== null}>
          <JsonView value={outcome.value} />
        </Part>
      )}
      {!outcome && <p class="quiet">{isOpen(shown) ? 'No answer yet.' : 'It ended without an answer.'}</p>}
    </>
  );
}

interface PartProps {
  name: string;
  part: Recorded;
  isFolded: boolean;
  children: ComponentChildren;
}

function Part({ name, part, isFolded, children }: PartProps) {
  const marks = [part.cut && 'shortened', part.masked && 'secrets masked'].filter(Boolean).join(', ');
  return (
    <details class="outcome" open={!isFolded} aria-label={name}>
      <summary>
        {name} <span class="quiet">{marks}</span>
        <button
          type="button"
          class="plain"
          onClick={(event) => {
            event.preventDefault();
            void navigator.clipboard.writeText(JSON.stringify(part.value, null, 2));
          }}
        >
          copy
        </button>
      </summary>
      <div class="card">{children}</div>
    </details>
  );
}

function NotKept({ functionKey }: { functionKey: string }) {
  return (
    <div class="note">
      <p>
        {keepsContents.value
          ? 'Nothing is kept of this call: it was made before this console was open, or newer calls replaced it.'
          : 'Payloads are not kept while the box above is off.'}
      </p>
      {!keepsContents.value && (
        <button type="button" onClick={() => (keepsContents.value = true)}>
          Keep payloads from now on
        </button>
      )}
      <p>
        <a href={hashOf({ page: 'functions', open: functionKey })}>Open the function</a>
      </p>
    </div>
  );
}

/** Loaded when the call is opened, and again when it has ended. */
function useContents({ id, outcome }: ShownCall): Contents | 'not kept' | undefined {
  const [contents, setContents] = useState<Contents | 'not kept' | undefined>(undefined);
  useEffect(() => {
    if (busState.value !== 'open') return;
    if (id === '') return setContents('not kept');
    let isOver = false;
    const show = (found: Contents | 'not kept') => isOver || setContents(found);
    void call<Contents>('engine::calls::get', { id }).then(show, () => show('not kept'));
    return () => {
      isOver = true;
    };
  }, [id, outcome, busState.value]);
  return contents;
}

/** Some workers return a failure as a result. */
function failureIn({ kind, value }: NonNullable<Contents['outcome']>): CallFailure | undefined {
  if (kind === 'error') return new CallFailure(readErrorBody(toErrorBody(value)));
  const [code, message] = [textOf(fieldOf(value, 'metadata'), 'code'), textOf(value, 'error')];
  if (fieldOf(value, 'success') !== false || code === undefined || message === undefined) return undefined;
  return new CallFailure({ ...(fieldOf(value, 'metadata') as object), code, message });
}
