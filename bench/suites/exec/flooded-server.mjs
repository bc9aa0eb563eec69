/** One owner of children alone in a process, so that its memory can be measured by itself. */
import { readFileSync, writeFileSync } from 'node:fs';

import { Children } from '#host';
import { serveParent } from '../../processes.mjs';

const maxOutputBytes = Number(process.argv[2]);
const children = await Children.open();

// One-time costs of a first job do not count.
for (let job = 0; job < 5; job++) await flood(4 * maxOutputBytes);

serveParent('ready', async ({ bytes }) => {
  const before = memoryMb('VmRSS');
  forgetPeak();
  await flood(bytes);
  return { peakGrowthMb: Math.max(memoryMb('VmHWM') - before, 0) };
});

async function flood(bytes) {
  const argv = ['head', '-c', String(bytes), '/dev/zero'];
  await (
    await children.start({ argv, env: { PATH: process.env.PATH }, maxOutputBytes })
  ).done;
}

function memoryMb(key) {
  const kilobytes = new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'latin1'))[1];
  return Number(kilobytes) / 1024;
}

/** The kernel then counts the peak from here. */
function forgetPeak() {
  writeFileSync('/proc/self/clear_refs', '5');
}
