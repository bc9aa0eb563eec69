/** The follower of a job as long as its page is in view. */
import { useEffect, useRef, useState } from 'preact/hooks';

import { call, openChannel } from '../session.ts';
import type { JobRow } from './job-record.ts';
import { JobFollower, type Attached, type FollowState, type OutputView } from './job-follower.ts';

export interface JobOutput {
  state: FollowState;
  /** Bytes that the job's ring dropped before the page read them. */
  lostBytes: number;
  follower: JobFollower | undefined;
}

/** Follows the job from its first byte on, once there is a view. */
export function useJobOutput({ id, worker }: Pick<JobRow, 'id' | 'worker'>, view: OutputView | undefined): JobOutput {
  const [state, setState] = useState<FollowState>({ kind: 'attaching' });
  const [lostBytes, setLostBytes] = useState(0);
  const follower = useRef<JobFollower | undefined>(undefined);
  useEffect(() => {
    if (!view) return;
    follower.current = new JobFollower({
      line: {
        attach: (request) => call<Attached>(`${worker}::attach`, { job_id: id, ...request }),
        open: openChannel,
      },
      view: {
        begin: (historyEnd) => view.begin(historyEnd),
        connect: (input) => view.connect?.(input),
        write: (stream, bytes, done) => view.write(stream, bytes, done),
        lost(count) {
          setLostBytes((before) => before + count);
          view.lost(count);
        },
      },
      onState: setState,
    });
    return () => follower.current?.close();
  }, [id, worker, view]);
  return { state, lostBytes, follower: follower.current };
}
