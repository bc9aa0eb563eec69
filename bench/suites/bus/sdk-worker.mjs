/** The echo on our engine, served by the published SDK. */
import { serveParent } from '../../processes.mjs';
import { ECHO } from './echo-worker.mjs';
import { connectSdk, settled } from './sdk.mjs';

const sdk = await connectSdk(process.argv[2]);
sdk.registerFunction(ECHO, async ({ text }) => ({ text }));
await settled(sdk);
serveParent({});
