/** Engine, worker and caller in one process: the frames of the bus without a socket. */
import { connect } from '#client';
import { Engine } from '#engine';

import { serveParent } from '../../processes.mjs';
import { ECHO, echoWorker } from './echo-worker.mjs';
import { measure } from './measure.mjs';

const engine = new Engine();
const worker = await connect(engine.dialer());
worker.serve(echoWorker);
const caller = await connect(engine.dialer());
await caller.call('engine::workers::list');
serveParent({}, (workload) => measure((request) => caller.call(ECHO, request), workload));
