/**
 * Sends the output of jobs to callers through channels, as fast as each reads.
 *
 * Each reader has its own offset in the job's ring. A slow reader misses bytes and gets their number; the job never
 * waits for it. A reader that does not read at all is dropped after a timeout.
 */
import { setMaxListeners } from 'node:events';

import type { Bus } from '#contract';
import { ChannelBroken, type ChannelReader, type ChannelRef, type ChannelWriter } from '#protocol';
import type { BackgroundJob } from './background-job.ts';
import { InputFaults } from './input-faults.ts';
import { JobFault } from './job-fault.ts';
import { isSettledWithin } from './timeout.ts';

const MAX_OF_JOB = 8;
const MAX_OPEN = 64;
/** Items of up to 64 KiB that wait in the channel. */
const BUFFERED_ITEMS = 16;
const STEP_BYTES = 65_536;
const STALLED_MS = 300_000;

interface Attachment {
  readonly reader: ChannelRef;
  readonly gone: AbortSignal;
  readonly faults: InputFaults;
}

interface Receiver {
  readonly writer: ChannelWriter;
  readonly signal: AbortSignal;
  readonly faults: InputFaults;
  readonly leave: () => void;
}

export class Attachments {
  readonly #counts = new Map<BackgroundJob, number>();
  readonly #hold: (job: BackgroundJob) => () => void;
  readonly #closing = new AbortController();
  #count = 0;

  /** `hold` is called when a caller attaches to a job, and the function that it returns at the end. */
  constructor(hold: (job: BackgroundJob) => () => void = () => () => {}) {
    this.#hold = hold;
    setMaxListeners(0, this.#closing.signal);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Returns the end of a new channel that the caller reads, `faults` included; `gone` aborts when the caller
   * disconnected or has received everything.
   */
  async open(job: BackgroundJob, since: number, bus: Bus): Promise<Attachment> {
    const ofJob = this.#counts.get(job) ?? 0;
    if (ofJob >= MAX_OF_JOB) throw new JobFault('crowded', `${MAX_OF_JOB} callers are attached to ${job.id} already`);
    if (this.#count >= MAX_OPEN) throw new JobFault('crowded', `${MAX_OPEN} callers are attached to jobs already`);
    this.#counts.set(job, ofJob + 1);
    this.#count += 1;
    const gone = new AbortController();
    const faults = new InputFaults();
    const release = this.#hold(job);
    const close = () => {
      release();
      gone.abort();
      this.#count -= 1;
      const left = this.#counts.get(job)! - 1;
      if (left > 0) this.#counts.set(job, left);
      else this.#counts.delete(job);
    };
    try {
      const { reader, writer } = await bus.createChannel(BUFFERED_ITEMS);
      const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
      const to = { writer: await bus.openWriter(writer), signal, faults, leave: () => gone.abort() };
      void this.#send(job, since, to).finally(close);
      return { reader, gone: signal, faults };
    } catch (error) {
      close();
      throw error;
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** Always resolves: a reader that disconnected is not an error. */
  async #send(job: BackgroundJob, since: number, { writer, signal, faults, leave }: Receiver): Promise<void> {
    void writer.untilTaken?.().then(leave);
    signal.addEventListener('abort', () => faults.wake(), { once: true });
    try {
      for (let next = since; ;) {
        if (signal.aborted) return writer.abort();
        const read = job.ring.read(next, STEP_BYTES);
        if (read.from > next) await taken(writer, JSON.stringify({ t: 'lost', at: next, bytes: read.from - next }));
        for (const { stream, at, bytes } of read.pieces) {
          await taken(
            writer,
            stream === 'stdout' ? bytes : JSON.stringify({ t: 'err', at, base64: bytes.toString('base64') }),
          );
        }
        next = read.next;
        for (const fault of faults.take()) await taken(writer, JSON.stringify({ t: 'error', at: next, ...fault }));
        if (next < job.ring.end) continue;
        if (job.ring.isFinished) break;
        if (!signal.aborted) await job.ring.changed(faults.signal);
      }
      await job.settled;
      const exit = { t: 'exit', at: job.ring.end, status: job.status, exit_code: job.exitCode };
      await taken(writer, JSON.stringify(exit));
      await writer.end();
    } catch {
      writer.abort();
    }
  }
}

async function taken(writer: ChannelWriter, item: Uint8Array | string): Promise<void> {
  if (!(await isSettledWithin(writer.write(item), STALLED_MS))) {
    throw new Error(`the reader took nothing for ${STALLED_MS} ms`);
  }
}

/** The items that a caller sends; ends without an error if the caller disconnects. */
export async function* incoming(reader: ChannelReader, gone: AbortSignal): AsyncGenerator<Uint8Array | string> {
  gone.addEventListener('abort', () => reader.cancel(), { once: true });
  try {
    yield* reader;
  } catch (error) {
    if (!(error instanceof ChannelBroken)) throw error;
  } finally {
    reader.cancel();
  }
}
