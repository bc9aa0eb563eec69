/** The two ends of a channel in one process. */
import { Duplex } from 'node:stream';

export type { Duplex };

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
