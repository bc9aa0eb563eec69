/** The honest pair beside a hostile peer. */
import { randomUUID } from 'node:crypto';

import { expect } from 'vitest';

import { Peer } from './peer-socket.ts';

/** A worker and a client that want nothing but their calls answered. */
export class Neighbours implements Disposable {
  readonly #worker: Peer;
  readonly #client: Peer;

  static async at(url: string): Promise<Neighbours> {
    const worker = await Peer.dial(url);
    await worker.register('healthy::echo');
    worker.answer('healthy::echo', (call) => call.data);
    return new Neighbours(worker, await Peer.dial(url));
  }

  private constructor(worker: Peer, client: Peer) {
    this.#worker = worker;
    this.#client = client;
  }

  async expectUnharmed(): Promise<void> {
    const id = randomUUID();
    const reply = await this.#client.call('healthy::echo', { id }, { invocation_id: id });
    expect(reply).toEqual({ type: 'invocationresult', invocation_id: id, result: { id } });
  }

  /** Lists contain the registrations of all peers, so one peer's registration could spoil them for all. */
  async expectListsReadable(): Promise<void> {
    for (const list of ['functions', 'workers', 'triggers', 'registered-triggers', 'trigger-types']) {
      const reply = await this.#client.call(`engine::${list}::list`, { include_internal: true });
      expect([list, reply.error]).toEqual([list, undefined]);
    }
  }

  /** Peers that registered as workers. */
  async workerNames(): Promise<string[]> {
    const { result } = await this.#client.call('engine::workers::list');
    return result.workers.map((row: { name: string }) => row.name);
  }

  get areConnected(): boolean {
    return [this.#worker, this.#client].every(({ socket }) => socket.readyState === socket.OPEN);
  }

  [Symbol.dispose](): void {
    this.#worker[Symbol.dispose]();
    this.#client[Symbol.dispose]();
  }
}
