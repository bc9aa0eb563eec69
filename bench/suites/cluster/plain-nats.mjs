/** Request and reply of NATS with nothing of ours: `plain-nats.mjs SERVER serve|call`. */
import { connect } from '@nats-io/transport-node';

import { serveParent } from '../../processes.mjs';
import { measure } from '../bus/measure.mjs';

const [server, side] = process.argv.slice(2);
const nats = await connect({ servers: server, noEcho: true });
if (side === 'serve') {
  nats.subscribe('echo', { callback: (_, message) => message.respond(JSON.stringify(message.json())) });
  nats.subscribe('take', { callback: (_, message) => message.respond() });
  await nats.flush();
}
const call = async (request) => (await nats.request('echo', JSON.stringify(request), { timeout: 30_000 })).json();

/** Requests of a batch each, with as many bytes at a time as a channel has on its way. */
async function stream({ mib, batchBytes, inFlight }) {
  let left = (mib * 2 ** 20) / batchBytes;
  const lane = async () => {
    while (left-- > 0) await nats.request('take', new Uint8Array(batchBytes), { timeout: 30_000 });
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return 'sent';
}

serveParent({}, ({ operation, ...given }) => (operation === 'stream' ? stream(given) : measure(call, given)));
