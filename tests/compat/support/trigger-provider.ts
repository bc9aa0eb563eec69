/** A provider of a trigger type that records its registrations, in order. */
import type { SdkClient } from './clients.ts';
import { deferred } from './waiting.ts';

export interface Binding {
  id: string;
  function_id: string;
  config: unknown;
  metadata?: unknown;
}

/** Offers a trigger type and yields its bindings and removals, in order. */
export function offer(provider: SdkClient, id: string) {
  const added = queue<Binding>();
  const removed = queue<Binding>();
  provider.registerTriggerType<unknown>(
    { id, description: `The type ${id}.` },
    {
      registerTrigger: async (binding) => added.put(binding),
      unregisterTrigger: async (binding) => removed.put(binding),
    },
  );
  return { next: added.take, nextRemoved: removed.take };
}

function queue<T>() {
  const items: T[] = [];
  let wake = deferred();
  return {
    put(item: T) {
      items.push(item);
      wake.resolve();
    },
    async take(): Promise<T> {
      while (items.length === 0) {
        wake = deferred();
        await wake.promise;
      }
      return items.shift()!;
    },
  };
}
