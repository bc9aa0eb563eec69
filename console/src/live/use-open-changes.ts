/** The changes that are open, loaded again when calls end. */
import { useState } from 'preact/hooks';

import type { OpenChange } from '../changes/open-change.ts';
import { call, isServed } from '../session.ts';
import { useAfterChangingCalls } from './changing-calls.ts';

const LIST = 'change::list';

export function useOpenChanges() {
  const [changes, setChanges] = useState<OpenChange[]>([]);
  const isThere = isServed(LIST);
  const load = async () => {
    if (!isThere) return;
    const { changes: listed } = await call<{ changes: OpenChange[] }>(LIST, {});
    setChanges(listed);
  };
  // A failure shows in the card of the change; the list of records stays usable.
  useAfterChangingCalls(load, () => {}, [isThere]);
  return { changes, load };
}
