/**
 * A channel of another node, seen here: an ordinary channel whose other end is pumped to or from its owner.
 *
 * Readers and writers, on sockets and in memory, use it as any other.
 */
import { Channel } from '#engine';
import type { ChannelItem, ChannelRef } from '#protocol';
import { pack, ReplyHeadSchema, unpack, type ReplyHead, type RequestHead } from './batch.ts';
import { ANSWER_MS, BATCH_BYTES, NEAR_BYTES, NEAR_ITEMS, PATIENCE_MS, RETRY_MS, WINDOW } from './limits.ts';

/** Sends a request to the owner; throws when no answer came. */
export type Request = (data: Uint8Array, timeoutMs: number) => Promise<Uint8Array>;

interface Reply {
  head: ReplyHead;
  items: ChannelItem[];
}

const LOST: Reply = { head: { gone: true }, items: [] };

export function nearEnd(ref: ChannelRef, request: Request, isOwnerThere: () => boolean): Channel {
  const channel = new Channel({ capacity: NEAR_ITEMS, maxBytes: NEAR_BYTES, done: () => {} });
  const named = { id: ref.channel_id, key: ref.access_key };
  const ask = (head: Omit<RequestHead, 'id' | 'key'>, items?: readonly ChannelItem[]) =>
    untilAnswered({ ...named, ...head }, items, request, isOwnerThere);
  if (ref.direction === 'write') void pumpOut(channel, ask);
  else void pumpIn(channel, ask);
  return channel;
}

/** Sends the same request until it is answered: it is numbered, so a repeated one changes nothing. */
async function untilAnswered(
  head: RequestHead,
  items: readonly ChannelItem[] | undefined,
  request: Request,
  isOwnerThere: () => boolean,
): Promise<Reply> {
  let sent = head;
  let rest = items;
  for (let silentSinceMs = performance.now(); performance.now() - silentSinceMs < PATIENCE_MS;) {
    try {
      const reply = unpack(ReplyHeadSchema, await request(pack(sent, rest), ANSWER_MS));
      if (!reply) return LOST;
      if (!reply.head.again) return reply;
      silentSinceMs = performance.now();
      // The owner has the batch: only room for it is missing.
      if (head.dir === 'w') [sent, rest] = [{ ...head, poll: true }, undefined];
    } catch {
      if (!isOwnerThere()) return LOST;
      [sent, rest] = [head, items];
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  return LOST;
}

type Ask = (head: Omit<RequestHead, 'id' | 'key'>, items?: readonly ChannelItem[]) => Promise<Reply>;

/** Takes what is written here and puts it into the owner's channel. */
async function pumpOut(channel: Channel, ask: Ask): Promise<void> {
  let wake = () => {};
  channel.takeReader({ readable: () => wake() });
  const inFlight = new Set<Promise<void>>();
  let isGone = false;
  for (let seq = 1; !isGone; seq++) {
    const { items, ...ending } = await nextBatch(channel, (resume) => (wake = resume));
    const sending = ask({ dir: 'w', seq, ...ending }, items).then(({ head }) => {
      inFlight.delete(sending);
      if (!head.gone) return;
      isGone = true;
      channel.endReading();
      wake();
    });
    inFlight.add(sending);
    if (ending.end || ending.broken !== undefined) break;
    if (inFlight.size >= WINDOW) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  channel.endReading();
}

async function nextBatch(channel: Channel, onWake: (resume: () => void) => void) {
  const items: ChannelItem[] = [];
  for (let bytes = 0; ;) {
    const waiting = new Promise<void>(onWake);
    const taken = channel.take();
    if (taken === 'ended') return { items, end: true };
    if (taken !== 'empty' && 'broken' in taken) return { items, broken: taken.broken };
    if (taken === 'empty') {
      if (items.length > 0) return { items };
      await waiting;
      continue;
    }
    items.push(taken.item);
    bytes += taken.item.length;
    if (bytes >= BATCH_BYTES) return { items };
  }
}

/** Takes from the owner's channel what is read here. */
async function pumpIn(channel: Channel, ask: Ask): Promise<void> {
  let giveRoom = () => {};
  let isGone = false;
  channel.takeWriter({
    resume: () => giveRoom(),
    readerGone: () => {
      isGone = true;
      giveRoom();
    },
  });
  let [seq, ack] = [1, 0];
  const asked: Promise<Reply>[] = [];
  for (;;) {
    while (asked.length < WINDOW) asked.push(ask({ dir: 'r', seq: seq++, ack }));
    const { head, items } = await asked.shift()!;
    ack++;
    for (const item of items) {
      if (isGone) break;
      const room = new Promise<void>((resolve) => (giveRoom = resolve));
      if (channel.push(item) === 'wait' && !isGone) await room;
    }
    if (isGone) {
      void ask({ dir: 'r', seq, cancel: true });
      return channel.endWriting();
    }
    if (head.end) return channel.endWriting();
    if (head.broken !== undefined) return channel.endWriting(head.broken);
    if (head.gone) return channel.endWriting('the node of this channel is gone, or the channel is');
  }
}
