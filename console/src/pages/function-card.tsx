/** One function: its description, its form, and the result. */
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Entry } from '../catalogue.ts';
import { draftOf, payloadOf, type Draft } from '../form/draft.ts';
import { fieldsOf, type Field } from '../form/fields.ts';
import { Control } from '../form/form.tsx';
import { duration } from '../format.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { Badge, Prose } from '../parts/layout.tsx';
import { takePrefill } from '../prefill.ts';
import { call } from '../session.ts';

/** The timeout of the HTTP surface; a sandbox may have to build its image first. */
const CALL_TIMEOUT_MS = 300_000;

type Outcome =
  | { kind: 'running'; cancel(): void }
  | { kind: 'result'; value: unknown; ms: number }
  | { kind: 'failure'; error: unknown; request: unknown; ms: number };

export function FunctionCard({ entry }: { entry: Entry }) {
  const request = useRequest(entry);
  const { outcome, run } = useRun(entry);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [outcome]);
  const retry = (payload: unknown) => {
    request.fill(payload);
    void run(payload);
  };

  return (
    <div class="scroll pad">
      <header class="title">
        <h1 class="mono">{entry.id}</h1>
        {entry.effect && <Badge kind={entry.effect}>{entry.effect}</Badge>}
        {entry.namespace !== 'default' && <Badge kind="plain">namespace {entry.namespace}</Badge>}
      </header>
      <p>
        <Prose text={entry.summary} />
      </p>
      {entry.details && (
        <p class="quiet">
          <Prose text={entry.details} />
        </p>
      )}
      <RunForm entry={entry} request={request} outcome={outcome} onRun={run} />
      <div ref={element}>{outcome && <OutcomeView outcome={outcome} onRetry={retry} />}</div>
      {entry.errors.length > 0 && <ErrorTable errors={entry.errors} />}
    </div>
  );
}

/** Functions that delete or run something: their forms start empty and ask for confirmation. */
function isHeavy({ effect }: Entry): boolean {
  return effect === 'delete' || effect === 'execute';
}

/** The content of the form: fields, or their JSON while that is shown instead. */
function useRequest(entry: Entry) {
  const { key, request, examples } = entry;
  const field = useRef(fieldsOf(request)).current;
  const [draft, setDraft] = useState<Draft>(() =>
    firstDraft(field, (takePrefill(key) ?? { payload: isHeavy(entry) ? undefined : examples[0] }).payload),
  );
  const [raw, setRaw] = useState<string | undefined>(undefined);
  const { value, problems } = raw === undefined ? payloadOf(field, draft) : readRaw(raw);
  return {
    field,
    draft,
    raw,
    value,
    problems,
    setDraft,
    setRaw,
    fill(payload: unknown) {
      setDraft(draftOf(field, payload, true));
      if (raw !== undefined) setRaw(JSON.stringify(payload, null, 2));
    },
    toggleRaw() {
      if (raw === undefined) return setRaw(JSON.stringify(value ?? {}, null, 2));
      if (problems.length === 0) setDraft(draftOf(field, value, true));
      setRaw(undefined);
    },
  };
}

/** The last call made from here, and how to make the next. */
function useRun({ id, namespace }: Entry) {
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const run = async (request: unknown) => {
    const control = new AbortController();
    const started = performance.now();
    setOutcome({ kind: 'running', cancel: () => control.abort() });
    const options = { namespace, timeoutMs: CALL_TIMEOUT_MS, signal: control.signal };
    try {
      const value = await call(id, request, options);
      setOutcome({ kind: 'result', value, ms: performance.now() - started });
    } catch (error) {
      setOutcome({ kind: 'failure', error, request, ms: performance.now() - started });
    }
  };
  return { outcome, run };
}

interface RunFormProps {
  entry: Entry;
  request: ReturnType<typeof useRequest>;
  outcome: Outcome | undefined;
  onRun: (payload: unknown) => Promise<void>;
}

function RunForm({ entry, request, outcome, onRun }: RunFormProps) {
  const { field, draft, raw, value, problems, setDraft, setRaw } = request;
  const isRunning = outcome?.kind === 'running';
  // The draft that the user is asked to confirm.
  const [asked, setAsked] = useState<{ draft: unknown; raw: string | undefined } | undefined>(undefined);
  const isAsking = asked !== undefined && asked.draft === draft && asked.raw === raw;
  const submit = () => {
    if (problems.length > 0 || isRunning) return;
    if (isHeavy(entry) && !isAsking) return setAsked({ draft, raw });
    setAsked(undefined);
    void onRun(value);
  };
  return (
    <form
      class="run-form card"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      {raw === undefined ? (
        <Control field={field} draft={draft} onChange={setDraft} name={entry.id} isRequired />
      ) : (
        <RawRequest text={raw} onChange={setRaw} />
      )}
      <div class="actions">
        <RunButton
          entry={entry}
          isAsking={isAsking}
          isOff={problems.length > 0 || isRunning}
          onNo={() => setAsked(undefined)}
        />
        {isRunning && (
          <button type="button" onClick={() => outcome.cancel()}>
            Cancel
          </button>
        )}
        <span class="quiet grow" role="status">
          {isAsking
            ? `${entry.id} will ${entry.effect} something. Do it?`
            : problems.map(({ path, text }) => `${path} ${text}`.trim()).join(' · ')}
        </span>
        {entry.examples.map((example, at) => (
          <button key={at} type="button" class="plain" onClick={() => request.fill(example)}>
            example {at + 1}
          </button>
        ))}
        <button type="button" class="plain" aria-pressed={raw !== undefined} onClick={() => request.toggleRaw()}>
          JSON
        </button>
      </div>
    </form>
  );
}

function RawRequest({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <textarea
      class="raw"
      aria-label="Request as JSON"
      rows={10}
      spellcheck={false}
      value={text}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface RunButtonProps {
  entry: Entry;
  isAsking: boolean;
  isOff: boolean;
  onNo: () => void;
}

function RunButton({ entry, isAsking, isOff, onNo }: RunButtonProps) {
  return (
    <>
      <button type="submit" class={isAsking ? 'danger strong' : 'primary'} disabled={isOff}>
        {isAsking ? `Yes, ${entry.effect === 'delete' ? 'delete' : 'run it'}` : 'Run'}
      </button>
      {isAsking && (
        <button type="button" onClick={onNo}>
          No
        </button>
      )}
    </>
  );
}

function OutcomeView({ outcome, onRetry }: { outcome: Outcome; onRetry: (request: unknown) => void }) {
  if (outcome.kind === 'running') return <p class="quiet">Running …</p>;
  if (outcome.kind === 'failure') {
    const onFix = (fix: Record<string, unknown>) => onRetry({ ...(outcome.request as object), ...fix });
    return (
      <section class="outcome" aria-label="Failure">
        <h2>
          Failed <span class="quiet">{duration(outcome.ms)}</span>
        </h2>
        <FailureCard error={outcome.error} onFix={onFix} />
      </section>
    );
  }
  const text = () => JSON.stringify(outcome.value, null, 2);
  return (
    <section class="outcome" aria-label="Result">
      <h2>
        Result <span class="quiet">{duration(outcome.ms)}</span>
        <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(text())}>
          copy
        </button>
      </h2>
      <div class="card">
        <JsonView value={outcome.value} />
      </div>
    </section>
  );
}

function ErrorTable({ errors }: { errors: Entry['errors'] }) {
  return (
    <section class="outcome">
      <h2>Errors</h2>
      <table class="plain-table">
        <tbody>
          {errors.map(({ code, meaning }) => (
            <tr key={code}>
              <td>
                <a class="mono" href={`/docs/errors#${code}`}>
                  {code}
                </a>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A function without an example starts empty. */
function firstDraft(field: Field, example: unknown): Draft {
  if (field.kind === 'json') return { kind: 'leaf', text: JSON.stringify(example ?? {}, null, 2) };
  return draftOf(field, example, true);
}

function readRaw(raw: string): ReturnType<typeof payloadOf> {
  return payloadOf({ kind: 'json' }, { kind: 'leaf', text: raw });
}
