/**
 * The context of job operations for jobs of sandboxes: ports are those of the sandbox, and using a job counts as using
 * its sandbox.
 */
import { listsListener, RegexThreads, SOCKET_LISTS } from '#host';
import { Attachments, type BackgroundJob, type JobContext } from '#job-functions';
import { GuestFiles } from '#sandbox/guest';
import type { LiveSandbox } from './live-sandbox.ts';
import type { Sandboxes } from './sandboxes.ts';

const READ_TIMEOUT_MS = 10_000;
/** Largest list of sockets that is read. */
const MAX_LIST_BYTES = 4 * 2 ** 20;

export function openJobs(sandboxes: Sandboxes): JobContext {
  return {
    jobs: sandboxes.jobs,
    attachments: new Attachments((job) => holdSandboxOf(job, sandboxes)),
    regexes: new RegexThreads(),
    isListening: async (port, job) => {
      const sandbox = sandboxOf(job, sandboxes);
      return sandbox !== undefined && isListeningIn(sandbox, port);
    },
  };
}

/** Counts as use of the job's sandbox until it is released. */
export function holdSandboxOf(job: BackgroundJob | undefined, sandboxes: Sandboxes): () => void {
  return sandboxOf(job, sandboxes)?.hold() ?? (() => {});
}

function sandboxOf(job: BackgroundJob | undefined, sandboxes: Sandboxes): LiveSandbox | undefined {
  return sandboxes.all.find(({ facts }) => facts.id === job?.group);
}

/** Reads the list of the guest's kernel; does not connect, as on the host. */
async function isListeningIn({ agent }: LiveSandbox, port: number): Promise<boolean> {
  const asked = { maxBytes: MAX_LIST_BYTES, signal: AbortSignal.timeout(READ_TIMEOUT_MS) };
  let isFound = false;
  for await (const { content } of new GuestFiles(agent).readMany(SOCKET_LISTS, asked)) {
    if (content instanceof Buffer) isFound ||= listsListener(content.toString('latin1'), port);
  }
  return isFound;
}
