/** Servers, nodes and faults of the tests, which are TypeScript: the benchmark measures what the tests prove. */
import { fileURLToPath } from 'node:url';

import { runnerImport } from 'vite';

const load = async (path) => (await runnerImport(fileURLToPath(new URL(`../../../${path}`, import.meta.url)))).module;

export const { NatsServers, NO_NATS } = await load('src/testing/nats.ts');
export const { NodeProcess } = await load('tests/cluster/support/node-process.ts');
export const { CutNetwork } = await load('tests/cluster/support/cut.ts');
export const { serverFaults, chaos } = await load('tests/cluster/support/server-faults.ts');
