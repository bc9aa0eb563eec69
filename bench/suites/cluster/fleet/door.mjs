/**
 * A node with the role `door` alone, as `start --role door` makes it: the functions of sandboxes, which hosts serve.
 */
import { connect } from '#client';
import { ClusterSettingsSchema, joinCluster, OwnNode } from '#cluster';
import { silentLog } from '#contract';
import { Engine, startServer } from '#engine';
import { onFleet, sandbox } from '#workers/sandbox';

import { serveParent } from '../../../processes.mjs';

const [server] = process.argv.slice(2);
const settings = ClusterSettingsSchema.parse({ servers: [server], node: 'door', roles: ['door'] });
const engine = new Engine();
const { url } = await startServer(engine, { host: '127.0.0.1', port: 0 });
const ownNode = new OwnNode(settings, '0');
const { front } = onFleet(sandbox, ownNode);
(await connect(engine.dialer(), { name: 'iii-sandbox' })).serve({ def: front, context: {} });
await joinCluster(engine, settings, { log: silentLog, ownNode });

serveParent({ url }, () => {
  const { user, system } = process.cpuUsage();
  return {
    hosts: ownNode.hosts().length,
    cpuUs: user + system,
    rssMb: Math.round(process.memoryUsage().rss / 2 ** 20),
  };
});
