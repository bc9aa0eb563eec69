/** Reports of all machines as one, also of those that join later. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { CallEvent, CallScope, Fleet } from '#contract';
import { callHost, type Called } from './call-host.ts';

const POLL_MS = 1_000;

/** Event numbers are those of this call: each machine has its own, so a caller cannot continue after one. */
export async function watchAll(fleet: Fleet, fn: Called, scope: CallScope): Promise<Record<string, never>> {
  const { signal, emit } = scope;
  const watched = new Set<string>();
  let seq = 0;
  const onEvent = (event: CallEvent) => emit?.('seq' in event ? { ...event, seq: ++seq } : event);
  while (!signal.aborted) {
    for (const { id, name } of fleet.hosts().filter((host) => !watched.has(host.id))) {
      watched.add(id);
      const ended = () => {
        watched.delete(id);
        emit?.({ type: 'changed', what: [name] });
      };
      callHost(name, fn, { scope, options: { onEvent, signal } }).then(ended, ended);
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return {};
}
