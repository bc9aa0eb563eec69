/** Makes the missing parents of a path, and removes them again if the change that needs them fails. */
import { rmdirSync } from 'node:fs';

import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import type { ChangeRecorder } from './change-recorder.ts';

export class MissingParents {
  readonly #jail: Jail;
  readonly #recorder: ChangeRecorder;
  readonly #isSynced: boolean;

  constructor(jail: Jail, { isSynced, recorder }: { isSynced: boolean; recorder: ChangeRecorder }) {
    this.#jail = jail;
    this.#isSynced = isSynced;
    this.#recorder = recorder;
  }

  async make(entry: JailEntry): Promise<void> {
    this.#recorder.parents(entry);
    await entry.makeParents({ isSynced: this.#isSynced });
  }

  async within<T>(entry: JailEntry, work: () => Promise<T>): Promise<T> {
    const made = entry.missingParents;
    try {
      await this.make(entry);
      return await work();
    } catch (error) {
      for (const relativePath of made.toReversed()) this.#removeEmpty(this.#jail.spell({ relativePath }));
      throw error;
    }
  }

  #removeEmpty(path: string): void {
    try {
      using entry = this.#jail.entry(path);
      entry.act((at) => rmdirSync(at));
    } catch (error) {
      // It is not empty any more, or was not made.
      if (!(error instanceof HostError)) throw error;
    }
  }
}
