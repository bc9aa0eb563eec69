/** The echo that clients reach directly. */
import { serveParent } from '../../processes.mjs';
import { echoOn, listen } from './bare-socket.mjs';

const { server, url } = await listen();
server.on('connection', echoOn);
serveParent({ url });
