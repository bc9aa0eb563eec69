/** Main-thread handle of an index thread: it loads its part of the tree and then answers one search at a time. */
import { Worker } from 'node:worker_threads';

import { RegexError } from '../../regex/index.ts';
import type { Findings } from '../findings.ts';
import type { FromIndex, IndexData, IndexOrder, ToIndex } from './index-messages.ts';

export interface IndexPartEvents {
  /** Called when it loaded more, or all of its part. */
  onLoaded(): void;
  onUnusable(): void;
  /** These files have several hard links, of which some may be in other parts. */
  onLinked(inodes: readonly number[]): void;
}

const THREAD_FILE = import.meta.url.endsWith('.ts')
  ? '../../../../dist/host/search/indexed/index-thread.js'
  : './index-thread.js';

export class IndexPart {
  readonly #worker: Worker;
  #waiting: { resolve(findings: Findings | undefined): void; reject(error: Error): void } | undefined;
  /** Files loaded so far, and the working time. */
  loaded = { files: 0, ms: 0 };
  isReady = false;

  constructor(data: IndexData, events: IndexPartEvents) {
    this.#worker = new Worker(new URL(THREAD_FILE, import.meta.url), { workerData: data });
    this.#worker.unref();
    this.#worker.on('message', (message: FromIndex) => this.#receive(message, events));
    this.#worker.on('error', () => events.onUnusable());
  }

  /** Resolves with undefined when reading the files is better. */
  async search(order: IndexOrder): Promise<Findings | undefined> {
    this.#worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#send({ kind: 'search', order });
      });
    } finally {
      this.#worker.unref();
    }
  }

  /** Forwards another part's files with several hard links. */
  noteLinked(inodes: readonly number[]): void {
    this.#send({ kind: 'linked', inodes });
  }

  close(): void {
    void this.#worker.terminate();
    this.#settle()?.resolve(undefined);
  }

  #receive(message: FromIndex, events: IndexPartEvents): void {
    if (message.kind === 'loading') this.loaded = message;
    else if (message.kind === 'ready') this.isReady = true;
    else if (message.kind === 'linked') events.onLinked(message.inodes);
    else if (message.kind === 'unusable') events.onUnusable();
    else if (message.kind === 'answer') this.#settle()?.resolve(message.findings);
    else this.#settle()?.reject(new RegexError(message.pattern, message.reason));
    if (message.kind === 'loading' || message.kind === 'ready') events.onLoaded();
  }

  #settle() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #send(message: ToIndex): void {
    this.#worker.postMessage(message);
  }
}
