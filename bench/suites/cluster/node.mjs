/** A node with the echo: an engine with a port, joined to others. `node.mjs NAME SERVERS [without-worker]`. */
import { connect } from '#client';
import { ClusterSettingsSchema, joinCluster, OwnNode } from '#cluster';
import { silentLog } from '#contract';
import { Engine, startServer } from '#engine';

import { serveParent } from '../../processes.mjs';
import { echoWorker } from '../bus/echo-worker.mjs';
import { operationsOf } from './operations.mjs';

const [node, servers, without] = process.argv.slice(2);
const engine = new Engine();
const { url } = await startServer(engine, { host: '127.0.0.1', port: 0 });
if (without === undefined) (await connect(engine.dialer())).serve(echoWorker);
const settings = ClusterSettingsSchema.parse({ servers: servers.split(','), node, share: ['bench'] });
const cluster = await joinCluster(engine, settings, { log: silentLog, ownNode: new OwnNode(settings, '0') });
const operations = operationsOf(await connect(engine.dialer()));

serveParent({ url }, (message) =>
  message.operation === 'peers' ? cluster.nodes().filter(({ self }) => !self).length : operations(message),
);
