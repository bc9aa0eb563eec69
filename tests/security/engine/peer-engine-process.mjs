/**
 * One engine alone in a process, so that its memory and its death can be observed from outside.
 *
 * Argument: the limits as JSON. It reports its URL over IPC, and then its
 * figures whenever it is asked.
 */
import { readFileSync } from 'node:fs';

import { Engine, startServer } from '../../../dist/engine/index.js';

const [limits] = process.argv.slice(2);
const engine = new Engine({ limits: JSON.parse(limits) });
const server = await startServer(engine, { host: '127.0.0.1', port: 0 });
process.send({ url: server.url });

process.on('message', () => {
  globalThis.gc();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  process.send({
    rss,
    heapUsed,
    arrayBuffers,
    peakRss: peakRss(),
    resources: process.getActiveResourcesInfo(),
    isPolluted: 'polluted' in {} || 'polluted' in [],
  });
});
/** The kernel's own mark where there is one: getrusage also counts the memory of the parent at the fork. */
function peakRss() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

process.on('disconnect', () => process.exit());
