/**
 * A process that uploads: the writer of the published SDK, given the end of a channel, sends its pieces and ends.
 *
 * It prints how many pieces it has handed over, so that a test can kill it at any of them; with `stopAfter` it stops after
 * that many and waits for the kill.
 */
import { ChannelWriter } from 'iii-sdk/channel';

const [url, ref, pieces, bytes, stopAfter] = process.argv.slice(2);
const { stream } = new ChannelWriter(url, JSON.parse(ref));
for (let at = 0; at < Number(pieces); at++) {
  await new Promise((sent) => stream.write(Buffer.alloc(Number(bytes), `${at},`), sent));
  process.stdout.write(`${at + 1}\n`);
  if (at + 1 === Number(stopAfter)) await new Promise((done) => setTimeout(done, 3_600_000));
}
stream.end();
