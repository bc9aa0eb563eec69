/** A failed call: code, message, link to the reference, and the retry that its `fix` offers. */
import { CallFailure } from '../bus.ts';
import { isObject } from '../loose-json.ts';
import { JsonView } from './json-view.tsx';

export interface FailureCardProps {
  error: unknown;
  /** Repeats the call with these fields merged into its request. */
  onFix?: (fix: Record<string, unknown>) => void;
  fixLabel?: string;
}

export function FailureCard({ error, onFix, fixLabel = 'Apply the fix and run again' }: FailureCardProps) {
  if (!(error instanceof CallFailure)) return <div class="failure">{String(error)}</div>;

  const { code, message, fix, docs_url: _, ...more } = error.fields;
  return (
    <div class="failure" role="alert">
      <p>
        <a class="code" href={`/docs/errors#${code}`} title="What this code means">
          {code}
        </a>{' '}
        {message}
      </p>
      {Object.keys(more).length > 0 && <JsonView value={more} />}
      {isObject(fix) && (
        <p class="fix">
          <code>{JSON.stringify(fix)}</code>
          {onFix && (
            <button type="button" class="primary" onClick={() => onFix(fix)}>
              {fixLabel}
            </button>
          )}
        </p>
      )}
    </div>
  );
}
