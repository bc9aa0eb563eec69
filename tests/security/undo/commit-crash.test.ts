/**
 * A process that commits changes is killed again and again. After the next start the workspace has all of a change or
 * nothing of it, and a change that was cut short is open with everything in it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { rounds, tempDir } from '#testing';

const KILLS = rounds(2, 50, 1000);
const FILES = rounds(100, 1000, 1000);
const COMMITTER = fileURLToPath(new URL('commit-crash-committer.mjs', import.meta.url));

/** Not the staged file of a killed process, which the next write in its folder removes. */
const isPlain = (name: string) => !name.startsWith('.workcell-');

interface Sent {
  open: string[];
  settled: number;
  tookMs: number;
}

test(
  `change.A10 SIGKILL during a commit of ${FILES} files: all or nothing, ${KILLS} times`,
  async () => {
    const names = Array.from({ length: FILES }, (_, i) => `ws/d${i % 7}/f${i}`);
    await using dir = await tempDir({
      'state/': '',
      'ws/only-0': 'round 0\n',
      'ws/tree/0': 'round 0\n',
      ...Object.fromEntries(names.map((name) => [name, 'round 0\n'])),
    });
    const env = { ...process.env, XDG_STATE_HOME: dir.path('state') };
    const roundsFound = () => {
      const tree = readdirSync(dir.path('ws')).includes('tree')
        ? readdirSync(dir.path('ws/tree')).filter(isPlain)
        : ['none'];
      const files = [...names.map((name) => dir.path(name)), ...tree.map((name) => dir.path(join('ws/tree', name)))];
      const only = readdirSync(dir.path('ws')).filter((name) => name.startsWith('only-'));
      return new Set([
        ...files.map((file) => readFileSync(file, 'utf8')),
        ...only.map((name) => `round ${name.slice(5)}\n`),
      ]);
    };
    const found = { mixed: 0, incomplete: 0, reopened: 0, cutShort: 0 };
    let tookMs = 300;
    for (let kill = 0; kill <= KILLS || (kill < 10 * KILLS && found.reopened === 0); kill++) {
      const committer = fork(COMMITTER, [dir.path('ws'), String(FILES)], {
        execArgv: [],
        env,
      });
      const next = async () =>
        ((await once(committer, 'message', { signal: AbortSignal.timeout(60_000) })) as [Sent])[0];
      const { open } = await next();
      const before = roundsFound();
      if (before.size !== 1) found.mixed++;
      committer.send('go');
      const { settled } = await next();
      const expected = Number([...before][0]!.split(' ')[1]) + open.length;
      found.reopened += open.length;
      if (roundsFound().size !== 1 || settled !== expected) found.incomplete++;
      committer.send('go');
      await next();
      // The first commit is whole, so that its duration is known.
      if (kill === 0) ({ tookMs } = await next());
      if (kill === 0) await next();
      await sleep(Math.random() * tookMs);
      committer.kill('SIGKILL');
      await once(committer, 'exit');
      if (roundsFound().size > 1) found.cutShort++;
    }
    console.log(`${KILLS} kills:`, found);
    expect(found).toMatchObject({ mixed: 0, incomplete: 0 });
    // Proves that kills interrupted commits at all.
    expect(found.reopened).toBeGreaterThan(0);
  },
  rounds(600_000, 600_000, 3_600_000),
);
