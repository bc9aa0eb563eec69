/**
 * Channel ends over WebSockets: pause the writer's socket at the cap, wait for each send to the reader.
 *
 * A reader whose writer broke off gets one text message `{"error": …}` and then a socket that ends without a close
 * frame: no published SDK shows close codes, Node and Python show the message, and Rust returns an error for the
 * missing frame.
 */
import type { WebSocket } from 'ws';

import { isStreamEnd, type ChannelItem } from '#protocol';
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
  if (!isTaken) return refuseSecond(socket);

  socket.on('message', (data, isBinary) => {
    const item: ChannelItem = isBinary ? (data as Buffer) : (data as Buffer).toString();
    if (channel.push(item) === 'wait') socket.pause();
  });
  socket.on('close', (code) => {
    if (isStreamEnd(code)) channel.endWriting();
    else channel.endWriting(`the writer of this channel broke off (its connection ended with code ${code})`);
  });
}

export function attachReaderSocket(channel: Channel, socket: WebSocket): void {
  let isSending = false;
  const pump = () => {
    if (isSending) return;
    const taken = channel.take();
    if (taken === 'empty') return;
    if (taken === 'ended') return socket.close(1000);

    isSending = true;
    const isBroken = 'broken' in taken;
    socket.send(isBroken ? JSON.stringify({ error: taken.broken }) : taken.item, (error) => {
      isSending = false;
      if (error || isBroken) socket.terminate();
      else pump();
    });
  };
  socket.on('error', () => socket.terminate());
  if (!channel.takeReader({ readable: pump })) return refuseSecond(socket);

  socket.on('close', () => channel.endReading());
}

/** Rejects a second connection to an end, with a code that does not mean end of stream. */
function refuseSecond(socket: WebSocket): void {
  socket.close(1008, 'this end of the channel was taken before');
}
