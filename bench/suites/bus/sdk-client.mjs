/** Calls through our engine with the published SDK. */
import { serveParent } from '../../processes.mjs';
import { ECHO } from './echo-worker.mjs';
import { measure } from './measure.mjs';
import { connectSdk } from './sdk.mjs';

const sdk = await connectSdk(process.argv[2]);
serveParent({}, (workload) => measure((payload) => sdk.trigger({ function_id: ECHO, payload }), workload));
