/** Workers of one server over one directory share its search processes, counted from outside. */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { startCli } from '../../../src/testing/cli.ts';
import { rounds } from '../../../src/testing/rounds.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

/** Enough that a server gets its search ready in advance. */
const FILES = 400;

/** The ids of a server's search processes. One that has just started has the path of its program as its name. */
function searchProcesses(server: number): string[] {
  const parentOf = (pid: string) => /\) \S (\d+)/.exec(textOf(`/proc/${pid}/stat`))?.[1];
  return readdirSync('/proc').filter(
    (pid) => parentOf(pid) === String(server) && /^workcell-search|scan-process/.test(textOf(`/proc/${pid}/cmdline`)),
  );
}

/** Their number, or why it may still change: for a second the same processes have to be there. */
async function steadyCount(server: number): Promise<number | string> {
  const first = searchProcesses(server);
  for (let sample = 1; sample <= 10; sample++) {
    await sleep(100);
    const now = searchProcesses(server);
    if (now.join() !== first.join()) return `${first.length} became ${now.length}`;
  }
  return first.length;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// A search from the index needs no process, but the server starts the processes in advance.
test.runIf(process.platform === 'linux').each(['off', 'auto'].slice(0, rounds(1, 2, 2)))(
  'http.P10 three workers that searched leave the processes of one worker, index %s',
  async (index) => {
    await using dir = await tempDir({
      ...Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`ws/d${i % 20}/f${i}`, `needle ${i}\n`])),
      'cell.yaml': `workers: [{name: coder, config: {index: ${index}}}, {name: shell}, {name: filesystem}]\n`,
    });
    const root = dir.path('ws');
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('cell.yaml'), '--workspace', root]);
    const bus = await connect(cell.url);
    const pattern = 'needle \\d+$';
    const found = [
      await bus.call('coder::search', { query: pattern, regex: true, max_matches: 1000 }),
      await bus.call('shell::fs::grep', { path: root, pattern, recursive: true, max_matches: 1000 }),
      await bus.call('filesystem::grep', { pattern, max_results: 1000 }),
    ];
    expect(found.map((reply) => JSON.stringify(reply).match(/needle \d/g)?.length)).toEqual([FILES, FILES, FILES]);
    const ofOne = Math.min(availableParallelism(), 8);
    await expect.poll(() => steadyCount(cell.child.pid!)).toBe(ofOne);
    bus.close();
  },
);
