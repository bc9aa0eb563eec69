/** Triggers a reload after a call that may change files. */
import { useEffect, useRef } from 'preact/hooks';

import { functionKeyOf, type CallsReply } from '../call-log.ts';
import { busState, call, changingFunctions } from '../session.ts';
import { useWatch } from '../watching.ts';

/** A load is a call too, which the engine reports: loading after every call would never end. */
export class ChangingCalls {
  #latest: number | undefined;

  /** Makes the next check return true. */
  forget(): void {
    this.#latest = undefined;
  }

  /** Whether a call that may change files has ended since this was asked before. */
  async haveEnded(): Promise<boolean> {
    const since = this.#latest;
    const { ended, latest } = await call<CallsReply>('engine::calls::list', { since: since ?? 0 });
    this.#latest = latest;
    const changing = changingFunctions();
    return since === undefined || ended.some((one) => changing.has(functionKeyOf(one)));
  }
}

export function useAfterChangingCalls(load: () => Promise<void>, onError: (error: unknown) => void, of: unknown[]) {
  const calls = useRef(new ChangingCalls()).current;
  useEffect(() => calls.forget(), [busState.value, ...of]);
  const check = async () => {
    if (await calls.haveEnded()) await load();
  };
  useWatch('engine::watch', () => check().catch(onError), of);
}
