/** The two ends of a channel in one process. */
import { Duplex } from 'node:stream';

import { AgentClient } from '../../../src/sandbox/guest/agent-client.ts';
import { frameHeader, OP, PROTOCOL_VERSION, WINDOW_BYTES } from '../../../src/sandbox/guest/frames.ts';

/** Only a hang takes that long. */
const DEADLINE_MS = 60_000;

export function duplexPair(): { host: Duplex; guest: Duplex } {
  const make = (other: () => Duplex) =>
    new Duplex({
      read() {},
      write(piece: Buffer, _, done) {
        if (!other().destroyed) other().push(piece);
        done();
      },
      final(done) {
        if (!other().destroyed) other().push(null);
        done();
      },
    });
  const host: Duplex = make(() => guest);
  const guest: Duplex = make(() => host);
  for (const end of [host, guest]) end.on('error', () => {});
  guest.resume();
  return { host, guest };
}

/** The host's side of a channel on which the guest said hello. */
export async function greet(host: Duplex, guest: Duplex): Promise<AgentClient> {
  const opening = AgentClient.open(host, { deadlineMs: DEADLINE_MS });
  const words = Buffer.alloc(12);
  [PROTOCOL_VERSION, 256 * 1024, WINDOW_BYTES].forEach((word, i) => words.writeUInt32LE(word, i * 4));
  guest.write(Buffer.concat([frameHeader(0, OP.hello, 12), words]));
  return opening;
}
