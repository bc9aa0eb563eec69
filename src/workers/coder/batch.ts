/** Runs the items of a request one after the other, yielding in between. A failed item does not stop the others. */
import { Failure, type CallScope, type Door } from '#contract';
import { Turns, type Jail } from '#host';
import { translate } from './errors.ts';

const TURN_MS = 5;

export type ItemResult<Done extends object, Failed extends object> = { path: string } & (
  | ({ success: true } & Done)
  | ({ success: false; error: string } & Failed)
);

/** The result of each item, or `failed` with the failure as JSON text in `error`. */
export async function settleEach<Item extends { path: string }, Done extends object, Failed extends object>(
  items: readonly Item[],
  {
    failed,
    scope,
    context,
  }: { failed: Failed; scope: Pick<CallScope, 'throwIfAborted' | 'door'>; context: { jail: Jail } },
  work: (item: Item) => Promise<Done>,
): Promise<ItemResult<Done, Failed>[]> {
  const turns = new Turns(scope, TURN_MS);
  const results: ItemResult<Done, Failed>[] = [];
  for (const item of items) {
    scope.throwIfAborted();
    if (turns.isOver) await turns.next();
    results.push({ path: item.path, ...(await settle(failed, () => work(item), { context, door: scope.door })) });
  }
  return results;
}

async function settle<Done extends object, Failed extends object>(
  failed: Failed,
  work: () => Promise<Done>,
  call: { context: { jail: Jail }; door?: Door },
) {
  try {
    return { success: true as const, ...(await work()) };
  } catch (thrown) {
    const failure = thrown instanceof Failure ? thrown : translate(thrown, call);
    if (!failure) throw thrown;
    return { success: false as const, ...failed, error: JSON.stringify(failure.toFields()) };
  }
}
