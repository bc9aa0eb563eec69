/**
 * The server side of `/otel`: a WebSocket that drops its input, byte by byte, or hands it to the exporter.
 *
 * A WebSocket library buffers a message before it delivers it, so peers that never finish theirs would hold memory for
 * nothing. This one buffers a frame's head and the 125 bytes of a ping; messages that are sent on share a bounded room.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Message } from './message.ts';

const HANDSHAKE_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODE = { continuation: 0, close: 8, ping: 9 } as const;
const FINAL = 0x80;
/** A frame head: two bytes, then up to 8 of length and 4 of mask. */
const SHORTEST_HEAD = 2;
const MASK_BYTES = 4;
const MAX_CONTROL_BYTES = 125;
const NORMAL = 1000;
const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;
/** Pongs that a peer does not read. */
const MAX_UNREAD_BYTES = 65_536;

export interface SinkOptions {
  pingIntervalMs: number;
  /** A peer silent for this long is disconnected. */
  idleMs: number;
}

/** The key of a WebSocket handshake, if the request is one. */
export function handshakeKey({ method, headers }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key'] ?? '';
  const isHandshake =
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-version'] === '13';
  return isHandshake && /^[+/0-9A-Za-z]{22}==$/.test(key) ? key : undefined;
}

export class TelemetrySink {
  readonly #stream: Socket;
  /** The head of the frame being read, and the payload of a ping or close. */
  #received = Buffer.alloc(0);
  /** Where the payloads go; absent when they are dropped. */
  readonly #message: Message | undefined;
  /** Bytes of the current frame's payload that are still to be read. */
  #toRead = 0;
  #isLastFrame = false;
  #bytesRead = 0;
  #silentMs = 0;

  constructor(stream: Socket, head: Buffer, { message, ...options }: SinkOptions & { message?: Message | undefined }) {
    this.#stream = stream;
    this.#message = message;
    const beat = setInterval(() => this.#beat(options), options.pingIntervalMs).unref();
    stream.on('close', () => {
      clearInterval(beat);
      message?.clear();
    });
    stream.on('end', () => stream.end());
    stream.on('data', (bytes: Buffer) => this.#take(bytes));
    if (head.length > 0) this.#take(head);
  }

  /** Accepts a peer whose handshake had this key. */
  static accept(stream: Socket, key: string): void {
    const answer = createHash('sha1').update(`${key}${HANDSHAKE_SUFFIX}`).digest('base64');
    stream.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${answer}\r\n\r\n`,
    );
  }

  close(code: number = GOING_AWAY): void {
    const reason = Buffer.alloc(2);
    reason.writeUInt16BE(code);
    this.#send(OPCODE.close, reason);
    this.#stream.end();
  }

  terminate(): void {
    this.#stream.destroy();
  }

  /** Any bytes count as a sign of life, as on the bus. */
  #beat({ pingIntervalMs, idleMs }: SinkOptions): void {
    const { bytesRead } = this.#stream;
    this.#silentMs = bytesRead === this.#bytesRead ? this.#silentMs + pingIntervalMs : 0;
    this.#bytesRead = bytesRead;
    if (this.#silentMs > idleMs) this.terminate();
    else this.#send(OPCODE.ping);
  }

  #take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#stream.writableEnded;) {
      if (this.#toRead > 0) {
        const piece = bytes.subarray(at, at + this.#toRead);
        at += piece.length;
        this.#readPayload(piece);
        continue;
      }
      const missing = neededBytes(this.#received) - this.#received.length;
      const piece = bytes.subarray(at, at + missing);
      at += piece.length;
      this.#received = Buffer.concat([this.#received, piece]);
      if (this.#received.length === neededBytes(this.#received)) this.#readFrame();
    }
  }

  #readFrame(): void {
    const frame = this.#received;
    this.#received = Buffer.alloc(0);
    const isMasked = (frame[1]! & 0x80) !== 0;
    if (!isMasked || (isControl(frame) && lengthCode(frame) > MAX_CONTROL_BYTES)) return this.close(PROTOCOL_ERROR);
    if (!isControl(frame)) this.#beginPayload(frame);
    else if (opcodeOf(frame) === OPCODE.ping) this.#send(OPCODE.ping + 1, unmasked(frame));
    else if (opcodeOf(frame) === OPCODE.close) this.close(NORMAL);
  }

  #beginPayload(head: Buffer): void {
    this.#toRead = payloadBytes(head);
    this.#isLastFrame = (head[0]! & FINAL) !== 0;
    this.#message?.begin(maskOf(head), opcodeOf(head) === OPCODE.continuation);
    if (this.#toRead === 0) this.#readPayload(Buffer.alloc(0));
  }

  #readPayload(piece: Buffer): void {
    this.#toRead -= piece.length;
    this.#message?.add(piece);
    if (this.#toRead === 0 && this.#isLastFrame) this.#message?.end();
  }

  #send(opcode: number, payload: Buffer = Buffer.alloc(0)): void {
    if (this.#stream.writableEnded) return;
    if (this.#stream.writableLength > MAX_UNREAD_BYTES) return this.terminate();
    this.#stream.write(Buffer.concat([Buffer.from([FINAL | opcode, payload.length]), payload]));
  }
}

/** How many bytes of a frame have to be buffered, as far as its first bytes show. */
function neededBytes(start: Buffer): number {
  if (start.length < SHORTEST_HEAD) return SHORTEST_HEAD;
  return headBytes(start) + (isControl(start) && lengthCode(start) <= MAX_CONTROL_BYTES ? lengthCode(start) : 0);
}

function headBytes(start: Buffer): number {
  const code = lengthCode(start);
  const mask = (start[1]! & 0x80) === 0 ? 0 : MASK_BYTES;
  return SHORTEST_HEAD + (code === 127 ? 8 : code === 126 ? 2 : 0) + mask;
}

/** The payload's length, or the code for where the head holds it. */
function lengthCode(start: Buffer): number {
  return start[1]! & 0x7f;
}

function payloadBytes(head: Buffer): number {
  const code = lengthCode(head);
  return code === 127 ? Number(head.readBigUInt64BE(2)) : code === 126 ? head.readUInt16BE(2) : code;
}

function opcodeOf(start: Buffer): number {
  return start[0]! & 0x0f;
}

function isControl(start: Buffer): boolean {
  return opcodeOf(start) >= 8;
}

function unmasked(frame: Buffer): Buffer {
  const mask = maskOf(frame);
  return Buffer.from(frame.subarray(headBytes(frame)).map((byte, at) => byte ^ mask[at % 4]!));
}

function maskOf(frame: Buffer): Buffer {
  return frame.subarray(headBytes(frame) - MASK_BYTES, headBytes(frame));
}
