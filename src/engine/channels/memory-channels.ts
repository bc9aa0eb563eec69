/** Channel ends for peers in this process: the same queue and the same back-pressure, without sockets. */
import {
  ChannelBroken,
  chunksOf,
  type ChannelItem,
  type ChannelReader,
  type ChannelRef,
  type ChannelWriter,
} from '#protocol';
import type { Channel, ChannelBroker } from './channels.ts';
import { fail } from '../errors.ts';

const ANOTHER = 'create another with engine::channels::create';

export async function memoryReader(broker: ChannelBroker, ref: ChannelRef): Promise<ChannelReader> {
  const channel = findChannel(broker, ref);
  let wake = () => {};
  if (!channel.takeReader({ readable: () => wake() })) throw takenTwice(ref);

  async function* items(): AsyncGenerator<ChannelItem> {
    try {
      for (;;) {
        const waiting = new Promise<void>((resolve) => (wake = resolve));
        const taken = channel.take();
        if (taken === 'ended') return;
        if (taken === 'empty') await waiting;
        else if ('broken' in taken) throw new ChannelBroken(taken.broken);
        else yield taken.item;
      }
    } finally {
      channel.endReading();
    }
  }
  const stream = items();
  return {
    [Symbol.asyncIterator]: () => stream,
    cancel: () => {
      channel.endReading();
      wake();
    },
  };
}

export async function memoryWriter(broker: ChannelBroker, ref: ChannelRef): Promise<ChannelWriter> {
  const channel = findChannel(broker, ref);
  // Writes that wait at the same time share one promise.
  let room: Promise<void> | undefined;
  let giveRoom = () => {};
  let isReaderGone = false;
  const isTaken = channel.takeWriter({
    resume: () => giveRoom(),
    readerGone: () => {
      isReaderGone = true;
      channel.endWriting();
      giveRoom();
    },
  });
  const untilRoom = () =>
    (room ??= new Promise((resolve) => {
      giveRoom = () => {
        room = undefined;
        resolve();
      };
    }));
  if (!isTaken) throw takenTwice(ref);

  return {
    async write(item) {
      for (const chunk of chunksOf(item)) {
        const state = isReaderGone ? 'gone' : channel.push(chunk);
        if (state === 'gone') throw new Error(`the reader of channel ${ref.channel_id} is gone; ${ANOTHER}`);
        if (state === 'wait') await untilRoom();
      }
    },
    end: () => Promise.resolve(channel.endWriting()),
    untilTaken: () => channel.taken,
    abort: () => channel.endWriting('the writer of this channel broke off'),
  };
}

function findChannel(broker: ChannelBroker, ref: ChannelRef): Channel {
  const channel = broker.find(ref);
  if (!channel) throw fail('NOT_FOUND', { text: `Channel not found: ${ref.channel_id}; ${ANOTHER}` });
  return channel;
}

function takenTwice(ref: ChannelRef): Error {
  return fail('INVALID_ARGUMENTS', {
    text: `the ${ref.direction} end of channel ${ref.channel_id} was taken before; ${ANOTHER}`,
  });
}
