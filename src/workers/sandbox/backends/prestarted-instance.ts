/**
 * A machine whose agent was greeted before it was needed.
 *
 * The pool personalizes it on hand-out; the receiver must not do it again.
 */
import type { Duplex } from 'node:stream';

import type { AgentClient } from '#sandbox/guest';
import type { Ending, Instance, Usage } from './backend.ts';
import { within } from './with-deadline.ts';

export class GreetedInstance implements Instance {
  readonly agent: AgentClient;
  readonly #instance: Instance;

  constructor(instance: Instance, agent: AgentClient) {
    this.#instance = instance;
    this.agent = agent;
  }

  /** Personalizes the machine. Rejects when it does not answer in time. */
  async introduce(deadlineMs: number): Promise<void> {
    const lost = this.agent.closed.then((reason) => Promise.reject(reason));
    await within(deadlineMs, Promise.race([this.#instance.personalize?.(this.agent), lost]));
  }

  get channel(): Duplex {
    return this.#instance.channel;
  }

  get pid(): number | undefined {
    return this.#instance.pid;
  }

  get exited(): Promise<Ending> {
    return this.#instance.exited;
  }

  usage(): Promise<Usage | undefined> {
    return this.#instance.usage();
  }

  kill(): Promise<void> {
    return this.#instance.kill();
  }

  dispose(): Promise<void> {
    return this.#instance.dispose();
  }
}
