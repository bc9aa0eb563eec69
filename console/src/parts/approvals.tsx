/** Calls that wait for a person's approval, with a preview and the buttons that answer. */
import { useState } from 'preact/hooks';

import { duration } from '../format.ts';
import { hashOf } from '../route.ts';
import { CallFailure } from '../bus.ts';
import { call, giveToken } from '../session.ts';
import { useWatch } from '../watching.ts';
import { ApprovalPreview } from './approval-preview.tsx';
import { KeyForm } from './key-form.tsx';
import { Panel, PanelRow } from './panel.tsx';

const WANTS_KEY = 'operator_only';

type Answer = 'approve' | 'always' | 'deny';

export interface Approval {
  id: string;
  function_id: string;
  caller: { label: string };
  line: string | null;
  payload: unknown;
  rule: string;
  reason: string | null;
  asked_at_ms: number;
}

export function useApprovals() {
  const [approvals, setApprovals] = useState<Approval[]>([]);
  const load = async () => {
    const reply = await call<{ approvals: Approval[] }>('engine::approvals::list', {}).catch(() => undefined);
    setApprovals(reply?.approvals ?? []);
  };
  useWatch('engine::watch', load);
  return { approvals, load };
}

export function Approvals({ approvals, load }: ReturnType<typeof useApprovals>) {
  if (approvals.length === 0) return null;
  return (
    <Panel title="Waiting for your approval" count={approvals.length}>
      {approvals.map((one) => (
        <ApprovalRow key={one.id} one={one} onDone={load} />
      ))}
    </Panel>
  );
}

function ApprovalRow({ one, onDone }: { one: Approval; onDone: () => Promise<void> }) {
  /** The answer to repeat once the user has entered the operator's key. */
  const [wanted, setWanted] = useState<Answer | undefined>(undefined);
  /** True if the engine accepted the answer without the operator's key. */
  const answer = async (given: Answer): Promise<boolean> => {
    try {
      await call('engine::approvals::answer', { id: one.id, answer: given });
    } catch (thrown) {
      if (thrown instanceof CallFailure && thrown.fields.code === WANTS_KEY) {
        setWanted(given);
        return false;
      }
    }
    await onDone();
    return true;
  };
  return (
    <>
      <PanelRow
        href={hashOf({ page: 'calls', open: one.id })}
        what={one.line ?? one.function_id}
        by={`${one.caller.label} · ${one.function_id} · ${one.reason ?? one.rule}`}
        end={<span class="mono">{duration(Math.max(1, Date.now() - one.asked_at_ms))}</span>}
        action={
          <>
            <button type="button" class="primary" onClick={() => void answer('approve')}>
              Approve
            </button>
            <button
              type="button"
              title="This caller and this rule, until the server ends"
              onClick={() => void answer('always')}
            >
              Always
            </button>
            <button type="button" class="danger" onClick={() => void answer('deny')}>
              Deny
            </button>
          </>
        }
      />
      <li>
        {wanted && (
          <KeyForm
            why="Approval needs the operator's key."
            action="Approve with this key"
            onKey={(key) => (giveToken(key), answer(wanted))}
          />
        )}
        <ApprovalPreview one={one} />
      </li>
    </>
  );
}
