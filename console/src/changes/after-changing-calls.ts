/** Runs a load again when a call that may change files has ended. */
import { useEffect, useRef } from 'preact/hooks';

import { functionKeyOf, type CallsReply } from '../call-log.ts';
import { busState, call, changingFunctions } from '../session.ts';
import { useWatch } from '../watching.ts';

/** The load is a call too, which the engine reports: loading after every call would never end. */
export function useAfterChangingCalls(load: () => Promise<void>, onError: (error: unknown) => void, of: unknown[]) {
  const seenCall = useRef<number | undefined>(undefined);
  useEffect(() => {
    seenCall.current = undefined;
  }, [busState.value, ...of]);
  const check = async () => {
    const since = seenCall.current;
    const { ended, latest } = await call<CallsReply>('engine::calls::list', { since: since ?? 0 });
    seenCall.current = latest;
    const changing = changingFunctions();
    if (since === undefined || ended.some((one) => changing.has(functionKeyOf(one)))) await load();
  };
  useWatch('engine::watch', () => check().catch(onError), of);
}
