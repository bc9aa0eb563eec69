/** The output of a job without a terminal, and a line for its input where it takes any. */
import { useEffect, useRef, useState } from 'preact/hooks';

import type { JobFollower, OutputView } from '../../jobs/job-follower.ts';
import { OutputLog } from '../../jobs/output-log.ts';

const SHOWN = ['both', 'stdout', 'stderr'] as const;

interface JobOutputProps {
  takesInput: boolean;
  follower: JobFollower | undefined;
  onView: (view: OutputView | undefined) => void;
}

export function JobOutput({ takesInput, follower, onView }: JobOutputProps) {
  const box = useRef<HTMLPreElement>(null);
  const [shown, setShown] = useState<(typeof SHOWN)[number]>('both');
  useEffect(() => {
    const log = new OutputLog(box.current!);
    onView(log);
    return () => {
      onView(undefined);
      log.close();
    };
  }, []);
  return (
    <section class="job-output" aria-label="Output">
      <h2>
        Output{' '}
        {SHOWN.map((name) => (
          <button type="button" key={name} class="plain" aria-pressed={shown === name} onClick={() => setShown(name)}>
            {name}
          </button>
        ))}
      </h2>
      <pre ref={box} data-shown={shown} tabIndex={0} />
      {takesInput && <InputLine follower={follower} />}
    </section>
  );
}

function InputLine({ follower }: { follower: JobFollower | undefined }) {
  const [line, setLine] = useState('');
  const [isRefused, setIsRefused] = useState(false);
  const send = () => {
    const isSent = follower?.send(new TextEncoder().encode(`${line}\n`)) === true;
    setIsRefused(!isSent);
    if (isSent) setLine('');
  };
  return (
    <form
      class="input-line"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <input
        aria-label="Line for its input"
        placeholder="a line for its input"
        autocomplete="off"
        spellcheck={false}
        value={line}
        onInput={(event) => setLine(event.currentTarget.value)}
      />
      <button type="button" onClick={() => follower?.endInput()}>
        End input
      </button>
      {isRefused && <p class="quiet">Not sent: the program does not read, or the connection is down.</p>}
    </form>
  );
}
