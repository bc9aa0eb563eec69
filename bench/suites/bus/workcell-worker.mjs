/** The echo on our engine, served by our client. */
import { connect } from '#client';

import { serveParent } from '../../processes.mjs';
import { echoWorker } from './echo-worker.mjs';

const connection = await connect(process.argv[2]);
connection.serve(echoWorker);
// Frames are taken in order: once this is answered, the echo is registered.
await connection.call('engine::workers::list');
serveParent({});
