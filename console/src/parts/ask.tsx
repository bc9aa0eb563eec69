/** A button that asks once before it acts. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface AskProps {
  label: string;
  /** The question, such as whether to stop a job. */
  question: ComponentChildren;
  /** Label of the button that does it; the same label when absent. */
  confirm?: string;
  title?: string;
  isDanger?: boolean;
  onYes: () => unknown;
}

export function Ask({ label, question, confirm = label, title, isDanger = false, onYes }: AskProps) {
  const [isAsking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  // Focuses before the user can press a key for the button that was here before.
  useLayoutEffect(() => {
    if (isAsking) yes.current?.focus();
    else if (wasAsking.current) first.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  if (!isAsking) {
    return (
      <button type="button" ref={first} class={isDanger ? 'danger' : ''} title={title} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <span
      class="ask"
      role="alertdialog"
      aria-label={`${label}?`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        setAsking(false);
      }}
    >
      <span>{question}</span>
      <button
        type="button"
        ref={yes}
        class={isDanger ? 'danger strong' : 'primary'}
        onClick={() => {
          setAsking(false);
          void onYes();
        }}
      >
        {confirm}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        No
      </button>
    </span>
  );
}
