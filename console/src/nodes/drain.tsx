/** Drains a node, or resumes it. A draining node takes no new sandboxes; those on it keep running. */
import { useState } from 'preact/hooks';

import { CallFailure } from '../bus.ts';
import { loadNodes, type NodeRow } from '../live/nodes.ts';
import { Ask } from '../parts/ask.tsx';
import { FailureCard } from '../parts/failure-card.tsx';
import { KeyForm } from '../parts/key-form.tsx';
import { call, giveToken } from '../session.ts';

const WANTS_KEY = 'operator_only';

export function Drain({ node: { name, state } }: { node: NodeRow }) {
  const [error, setError] = useState<unknown>(undefined);
  /** The request to repeat once the user has entered the operator's key. */
  const [wanted, setWanted] = useState<boolean | undefined>(undefined);
  /** True if the engine accepted it without the operator's key. */
  const set = async (resume: boolean): Promise<boolean> => {
    setError(undefined);
    try {
      await call('engine::nodes::drain', { resume }, { namespace: name });
      setWanted(undefined);
      await loadNodes();
      return true;
    } catch (thrown) {
      const wantsKey = thrown instanceof CallFailure && thrown.fields.code === WANTS_KEY;
      if (wantsKey) setWanted(resume);
      else setError(thrown);
      return !wantsKey;
    }
  };
  return (
    <>
      <p class="actions">
        {state === 'draining' ? (
          <button type="button" class="primary" onClick={() => void set(true)}>
            Resume
          </button>
        ) : (
          <Ask
            label="Drain"
            title="It takes no new sandboxes; those that live there continue"
            question={`Drain ${name}? It takes no new sandboxes.`}
            confirm="Drain it"
            onYes={() => set(false)}
          />
        )}
      </p>
      {error !== undefined && <FailureCard error={error} />}
      {wanted !== undefined && (
        <KeyForm
          why={`${wanted ? 'Resuming' : 'Draining'} a node needs the operator's key.`}
          action={wanted ? 'Resume with this key' : 'Drain with this key'}
          onKey={(key) => (giveToken(key), set(wanted))}
        />
      )}
    </>
  );
}
