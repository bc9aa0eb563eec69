/** Main-thread handle of a regex thread: one task at a time; terminated when its caller aborts. */
import { Worker } from 'node:worker_threads';

import type { FromThread, ToThread } from './thread-messages.ts';

/** Node 20 threads cannot run TypeScript sources; tests on sources use the thread of the last build. */
const THREAD_FILE = import.meta.url.endsWith('.ts') ? '../../../dist/host/regex/regex-thread.js' : './regex-thread.js';

export class RegexWorker {
  readonly #worker = new Worker(new URL(THREAD_FILE, import.meta.url));
  #waiting: { resolve: (answer: FromThread) => void; reject: (reason: Error) => void } | undefined;
  #isEnded = false;

  constructor() {
    this.#worker.on('message', (answer: FromThread) => this.#waiting?.resolve(answer));
    this.#worker.on('error', (error) => void this.end(error));
    this.#worker.on('exit', () => void this.end(new Error('a regex thread ended by itself')));
    // Keeps the process alive only while a caller waits for it.
    this.#worker.unref();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  async run(task: ToThread, signal: AbortSignal): Promise<FromThread> {
    const endAborted = () => void this.end(signal.reason as Error);
    signal.addEventListener('abort', endAborted);
    this.#worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        const text = new Uint8Array(task.text);
        this.#worker.postMessage({ ...task, text }, [text.buffer]);
      });
    } finally {
      signal.removeEventListener('abort', endAborted);
      this.#waiting = undefined;
      this.#worker.unref();
    }
  }

  /** Rejects the running task with the reason. */
  async end(reason: Error): Promise<void> {
    this.#isEnded = true;
    this.#waiting?.reject(reason);
    await this.#worker.terminate();
  }
}
