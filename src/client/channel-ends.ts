/** Channel ends over a socket as async iterables, with back-pressure in both directions. */
import type { WebSocket } from 'ws';

import {
  ChannelBroken,
  chunksOf,
  isStreamEnd,
  type ChannelItem,
  type ChannelReader,
  type ChannelWriter,
} from '#protocol';

/** Items taken off the socket before it is paused. */
const READ_AHEAD = 16;

export function socketReader(socket: WebSocket): ChannelReader {
  const items: ChannelItem[] = [];
  let ending: 'whole' | { broken: string } | undefined;
  let wake = () => {};
  socket.on('message', (data, isBinary) => {
    items.push(isBinary ? (data as Buffer) : (data as Buffer).toString());
    if (items.length >= READ_AHEAD) socket.pause();
    wake();
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', (code, reason) => {
    ending ??= isStreamEnd(code) ? 'whole' : { broken: reason.toString() || `its connection ended with code ${code}` };
    wake();
  });
  socket.resume();

  async function* stream(): AsyncGenerator<ChannelItem> {
    try {
      for (;;) {
        const waiting = new Promise<void>((resolve) => (wake = resolve));
        const item = items.shift();
        if (item !== undefined) {
          if (socket.isPaused && socket.readyState === socket.OPEN) socket.resume();
          yield item;
        } else if (ending === 'whole') {
          return;
        } else if (ending) {
          throw new ChannelBroken(`the channel broke off before its end: ${ending.broken}`);
        } else {
          await waiting;
        }
      }
    } finally {
      socket.terminate();
    }
  }
  const iterator = stream();
  const cancel = () => {
    ending = 'whole';
    socket.terminate();
  };
  return { [Symbol.asyncIterator]: () => iterator, cancel };
}

export function socketWriter(socket: WebSocket): ChannelWriter {
  let lost: Error | undefined;
  let interrupt = () => {};
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      lost ??= new Error('the channel was closed by its other end');
      interrupt();
      resolve();
    });
  });
  socket.on('error', (error) => {
    lost = error;
    socket.terminate();
  });
  socket.resume();

  const send = (item: ChannelItem) =>
    new Promise<void>((resolve, reject) => {
      if (lost) return reject(lost);
      interrupt = () => reject(lost!);
      socket.send(item, (error) => (error ? reject(lost ?? error) : resolve()));
    });

  return {
    async write(item) {
      for (const chunk of chunksOf(item)) await send(chunk);
    },
    async end() {
      socket.close(1000, 'stream_complete');
      await closed;
    },
    abort: () => socket.terminate(),
  };
}
