/** Asks for the operator's key, which proves that a person is here: a program can claim to be a page. */
import { useState } from 'preact/hooks';

interface KeyFormProps {
  /** Purpose of the key, as a sentence. */
  why: string;
  action: string;
  /** Whether the engine took the key. */
  onKey: (key: string) => Promise<boolean>;
}

export function KeyForm({ why, action, onKey }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [isRefused, setRefused] = useState(false);
  const give = async () => {
    setRefused(false);
    setRefused(!(await onKey(key.trim())));
  };
  return (
    <form
      class="token card"
      onSubmit={(event) => {
        event.preventDefault();
        void give();
      }}
    >
      <p>
        {why} <code>workcell approvals key</code> prints it; it stays in this tab.
      </p>
      {isRefused && (
        <p class="bad" role="alert">
          That is not the operator's key of this server. Run <code>workcell approvals key</code> on its machine, as its
          user and with its configuration.
        </p>
      )}
      <input
        type="password"
        aria-label="Operator's key"
        autocomplete="off"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={key.trim() === ''}>
        {action}
      </button>
    </form>
  );
}
