/** A caller that is attached to a job and does not read costs the server no memory, and the job no time. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { connect } from '#client';
import { channelPath, type ChannelRef } from '#protocol';
import { startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

const MB = 1024 * 1024;
const FLOOD_BYTES = 1_000_000_000;
/** Readers, and how many MB more the server may need. For each, 1 MiB waits in the channel, and more in its socket. */
const READERS: [number, number][] = [
  [1, 20],
  [8, 64],
];

/** In bytes, as the kernel counts. */
function memoryOf(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) * 1024;
}

test.skipIf(process.platform !== 'linux').each(READERS)(
  'live.D5 1 GB of output past %i that stopped reading: at most %i MB more',
  async (readers, maxMb) => {
    await using dir = await tempDir();
    const config = { allowlist: [], denylist_patterns: [], fs: { host_root: dir.root } };
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ workers: [{ name: 'shell', config }] }));
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
    const bus = await connect(cell.url, { name: 'tester' });
    const flood = async (bytes: number, count: number) => {
      const request = { command: 'sh', args: ['-c', `read go; head -c ${bytes} /dev/zero`], input: true };
      const { job_id } = (await bus.call('shell::exec_bg', request)) as { job_id: string };
      const sockets = [];
      for (let n = 0; n < count; n++) {
        const { reader } = (await bus.call('shell::attach', { job_id })) as { reader: ChannelRef };
        const socket = new WebSocket(cell.url + channelPath(reader));
        await once(socket, 'open');
        socket.pause();
        sockets.push(socket);
      }
      await bus.call('shell::input', { job_id, text: 'go\n' });
      const until = { job_id, until: { exit: true }, wait_ms: 120_000, max_bytes: 1 };
      const end = await bus.call('shell::output', until, { timeoutMs: 150_000 });
      for (const socket of sockets) socket.terminate();
      return end as { status: string; lost: number };
    };
    // Server memory that any job takes.
    await flood(50_000_000, readers);
    const before = memoryOf(cell.child.pid!, 'VmRSS');
    writeFileSync(`/proc/${cell.child.pid}/clear_refs`, '5');
    const alone = performance.now();
    await flood(FLOOD_BYTES, 0);
    const stopped = performance.now();
    const { status, lost } = await flood(FLOOD_BYTES, readers);
    const [aloneMs, stoppedMs] = [stopped - alone, performance.now() - stopped];
    const growth = memoryOf(cell.child.pid!, 'VmHWM') - before;
    bus.close();
    console.log(
      `1 GB past ${readers}: ${(growth / MB).toFixed(1)} MB more at the peak, ${Math.round(stoppedMs)} ms, without readers ${Math.round(aloneMs)} ms`,
    );
    expect({ status, lost }).toEqual({ status: 'finished', lost: FLOOD_BYTES - MB });
    expect(growth).toBeLessThan(maxMb * MB);
    // Not held up: a reader would be dropped after minutes.
    expect(stoppedMs).toBeLessThan(10 * aloneMs + 5000);
  },
  600_000,
);
