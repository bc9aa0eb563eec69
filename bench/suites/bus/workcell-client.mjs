/** Calls through our engine with our client. */
import { connect } from '#client';

import { serveParent } from '../../processes.mjs';
import { ECHO } from './echo-worker.mjs';
import { measure } from './measure.mjs';

const connection = await connect(process.argv[2]);
serveParent({}, (workload) => measure((request) => connection.call(ECHO, request), workload));
