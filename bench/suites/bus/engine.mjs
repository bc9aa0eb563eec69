/** Our engine on a free loopback port. */
import { Engine, startServer } from '#engine';

import { serveParent } from '../../processes.mjs';

const { url } = await startServer(new Engine(), { host: '127.0.0.1', port: 0 });
serveParent({ url });
