/** Connects to an engine over WebSockets: one for frames, one for each channel end. */
import type { Socket } from 'node:net';

import { WebSocket, type ClientOptions } from 'ws';

import { CallError } from '#contract';
import {
  channelPath,
  decodeFrame,
  encodeFrame,
  gatherWrites,
  type ChannelRef,
  type Dialer,
  type Link,
} from '#protocol';
import { socketReader, socketWriter } from './channel-ends.ts';

export interface SocketDialerOptions {
  /** Sent as a bearer token with the upgrade. */
  token?: string;
}

const HANDSHAKE_MS = 10_000;
const PING_MS = 20_000;
const IDLE_MS = 60_000;
/** More unsent bytes than this and the engine counts as not reading. */
const MAX_OUTBOUND_BYTES = 192 * 1024 * 1024;

export function socketDialer(url: string, options: SocketDialerOptions = {}): Dialer {
  const base = url.replace(/\/+$/, '');
  const settings: ClientOptions = {
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
  };
  const open = (path: string) => opened(new WebSocket(base + path, settings), url);
  const openEnd = async (ref: ChannelRef) => (await open(channelPath(ref))).socket;
  return {
    redials: true,
    httpUrl: base.replace(/^ws/, 'http'),
    dial: async () => socketLink(await open('')),
    openReader: async (ref) => socketReader(await openEnd(ref)),
    openWriter: async (ref) => socketWriter(await openEnd(ref)),
  };
}

function socketLink({ socket, stream }: OpenSocket): Link {
  const gather = gatherWrites(stream);
  let lastSeenMs = Date.now();
  const seen = () => (lastSeenMs = Date.now());
  const beat = () => {
    if (Date.now() - lastSeenMs > IDLE_MS) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  };
  return {
    attach(events) {
      const heartbeat = setInterval(beat, PING_MS).unref();
      socket.on('pong', seen);
      socket.on('ping', seen);
      socket.on('message', (data) => {
        seen();
        const decoded = decodeFrame((data as Buffer).toString());
        if ('frame' in decoded) events.frame(decoded.frame);
      });
      socket.on('error', () => socket.terminate());
      socket.on('close', (code, reason) => {
        clearInterval(heartbeat);
        events.closed(reason.toString() || `closed with ${code}`);
      });
      // Frames that came with the handshake stay queued until a listener is attached.
      socket.resume();
    },
    send(frame, encoded) {
      if (socket.readyState !== socket.OPEN) return 'closed';
      if (socket.bufferedAmount > MAX_OUTBOUND_BYTES) return 'full';
      const text = encoded ?? encodeFrame(frame);
      if (!text) return 'not-json';
      gather();
      socket.send(text, { binary: false });
      return 'sent';
    },
    close: (reason = '') => socket.close(1000, reason),
  };
}

/** A WebSocket and the stream below it. */
interface OpenSocket {
  socket: WebSocket;
  stream: Socket;
}

/** Resolves with the open socket, paused until a listener is attached. */
function opened(socket: WebSocket, url: string): Promise<OpenSocket> {
  return new Promise((resolve, reject) => {
    let stream: Socket;
    socket.once('upgrade', (response) => (stream = response.socket));
    const refuse = (message: string) => reject(new CallError('', { code: 'connection_failed', message }));
    socket.once('unexpected-response', (_request, response) => {
      refuse(`${url} refused the connection with HTTP ${response.statusCode}`);
      response.destroy();
      socket.terminate();
    });
    const onError = (error: NodeJS.ErrnoException) => refuse(`cannot reach ${url}: ${error.code ?? error.message}`);
    socket.once('error', onError);
    socket.once('open', () => {
      socket.off('error', onError);
      socket.pause();
      resolve({ socket, stream });
    });
  });
}
