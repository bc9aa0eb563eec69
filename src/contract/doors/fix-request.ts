/**
 * The `fix` of a failure as its caller gets it: the whole next request, to be sent as it is or merged.
 *
 * A request that cannot be repeated, because it is long or its channel is used up, gets a `fix_note` with the necessary
 * changes.
 */
import { ChannelRefSchema } from '#protocol';
import { isMap } from '../schema/is-map.ts';

/** A longer request is not sent back for a few changes. */
const MAX_FIX_CHARS = 16_384;

export function fixRequest(changes: object, request: unknown): { fix: object | undefined; fix_note?: string } {
  const fix = isMap(request) ? { ...request, ...changes } : changes;
  const isUsedUp = Object.values(fix).some((value) => ChannelRefSchema.safeParse(value).success);
  if (!isUsedUp && JSON.stringify(fix).length <= MAX_FIX_CHARS) return { fix };

  const why = isUsedUp ? 'with a new channel' : 'which is too long to be repeated here';
  const what = JSON.stringify(changes);
  const shown = what.length <= MAX_FIX_CHARS ? `Change ${what} in` : 'Change what the message says in';
  return { fix: undefined, fix_note: `${shown} the request and send it again, ${why}.` };
}
