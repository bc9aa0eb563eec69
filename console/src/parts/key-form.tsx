/** Asks for the operator's key, which proves that a person approves: a program can claim to be a page. */
import { useState } from 'preact/hooks';

export function KeyForm({ onKey }: { onKey: (key: string) => void }) {
  const [key, setKey] = useState('');
  return (
    <form
      class="token card"
      onSubmit={(event) => {
        event.preventDefault();
        onKey(key.trim());
      }}
    >
      <p>
        Approval needs the operator's key. <code>workcell approvals key</code> prints it; it stays in this tab.
      </p>
      <input
        type="password"
        aria-label="Operator's key"
        autocomplete="off"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={key.trim() === ''}>
        Approve with this key
      </button>
    </form>
  );
}
