/** The terminal of a job. xterm.js is loaded when the first one is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';

import type { JobFollower, OutputView } from '../../jobs/job-follower.ts';
import { FailureCard } from '../../parts/failure-card.tsx';
import type { JobScreen } from '../../terminal/job-screen.ts';
import { keepShownOffset, shownOffset } from '../../terminal/shown-offsets.ts';
import { theme } from '../../theme.ts';

interface JobTerminalProps {
  jobId: string;
  /** Whether the job takes keys now. */
  takesInput: boolean;
  follower: JobFollower | undefined;
  onView: (view: OutputView | undefined) => void;
}

export function JobTerminal({ jobId, takesInput, follower, onView }: JobTerminalProps) {
  const box = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<JobScreen | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isRefused, setIsRefused] = useState(false);
  const latest = useRef(follower);
  latest.current = follower;

  useEffect(() => {
    let opened: JobScreen | undefined;
    let isGone = false;
    const keep = () => latest.current && keepShownOffset(jobId, latest.current.next);
    addEventListener('pagehide', keep);
    void import('../../terminal/job-screen.ts').then(({ JobScreen }) => {
      if (isGone) return;
      opened = new JobScreen(box.current!, {
        answeredTo: shownOffset(jobId),
        onRefused: setIsRefused,
      });
      setScreen(opened);
      onView(opened);
    }, setError);
    return () => {
      isGone = true;
      removeEventListener('pagehide', keep);
      keep();
      onView(undefined);
      opened?.close();
    };
  }, [jobId]);
  useEffect(() => screen?.paint(), [screen, theme.value]);
  useEffect(() => {
    if (takesInput) screen?.focus();
  }, [screen, takesInput, follower]);

  return (
    <section class="job-terminal" aria-label="Terminal" data-live={takesInput ? '' : undefined}>
      {error !== undefined && <FailureCard error={error} />}
      <div class="job-screen" ref={box} />
      <p class="quiet">
        {isRefused
          ? 'The last input was dropped: the program does not read, or the connection is down.'
          : takesInput && 'Keys go to the program. Shift+Esc leaves the terminal.'}
      </p>
    </section>
  );
}
