/** A client of an engine by WebSocket. */
import { connect } from '#client';

import { serveParent } from '../../processes.mjs';
import { operationsOf } from './operations.mjs';

serveParent({}, operationsOf(await connect(process.argv[2])));
