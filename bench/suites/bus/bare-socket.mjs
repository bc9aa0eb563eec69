/** How the bare programs set up their sockets: as the engine does. */
import { once } from 'node:events';

import { WebSocket, WebSocketServer } from 'ws';

const MAX_BYTES = 64 * 1024 * 1024;

export async function dial(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: MAX_BYTES });
  await once(socket, 'open');
  return socket;
}

/** Listens on a free loopback port. */
export async function listen() {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    maxPayload: MAX_BYTES,
  });
  await once(server, 'listening');
  return { server, url: `ws://127.0.0.1:${server.address().port}` };
}

/** Answers every message of a socket with its payload. */
export function echoOn(socket) {
  socket.on('message', (data) => {
    const { id, payload } = JSON.parse(data);
    socket.send(JSON.stringify({ id, result: payload }));
  });
}
