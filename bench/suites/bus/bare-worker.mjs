/** The echo behind the bare broker. */
import { serveParent } from '../../processes.mjs';
import { dial, echoOn } from './bare-socket.mjs';

echoOn(await dial(`${process.argv[2]}/worker`));
serveParent({});
