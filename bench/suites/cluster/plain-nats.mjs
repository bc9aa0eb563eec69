/** Request and reply of NATS with nothing of ours: `plain-nats.mjs SERVER serve|call`. */
import { connect } from '@nats-io/transport-node';

import { serveParent } from '../../processes.mjs';
import { measure } from '../bus/measure.mjs';

const [server, side] = process.argv.slice(2);
const nats = await connect({ servers: server, noEcho: true });
if (side === 'serve') {
  nats.subscribe('echo', { callback: (_, message) => message.respond(JSON.stringify(message.json())) });
  await nats.flush();
}
const call = async (request) => (await nats.request('echo', JSON.stringify(request), { timeout: 30_000 })).json();
serveParent({}, (workload) => measure(call, workload));
