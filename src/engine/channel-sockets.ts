/** Channel ends over WebSockets: pause the writer's socket at the cap, wait for each send to the reader. */
import type { WebSocket } from 'ws';

import type { ChannelItem } from '#protocol';
import type { Channel } from './channels.ts';

export function attachWriterSocket(channel: Channel, socket: WebSocket): void {
  socket.on('error', () => socket.terminate());
  const isTaken = channel.takeWriter({
    resume: () => socket.readyState === socket.OPEN && socket.resume(),
    readerGone: () => {
      // A paused socket would not see the answer to its close.
      socket.resume();
      socket.close();
    },
  });
  if (!isTaken) return socket.close();

  socket.on('message', (data, isBinary) => {
    const item: ChannelItem = isBinary ? (data as Buffer) : (data as Buffer).toString();
    if (channel.push(item) === 'wait') socket.pause();
  });
  socket.on('close', () => channel.endWriting());
}

export function attachReaderSocket(channel: Channel, socket: WebSocket): void {
  let isSending = false;
  const pump = () => {
    if (isSending) return;
    const taken = channel.take();
    if (taken === 'empty') return;
    if (taken === 'ended') return socket.close();

    isSending = true;
    socket.send(taken.item, (error) => {
      isSending = false;
      if (error) socket.terminate();
      else pump();
    });
  };
  socket.on('error', () => socket.terminate());
  if (!channel.takeReader({ readable: pump })) return socket.close();

  socket.on('close', () => channel.endReading());
}
