/**
 * patch.C5: a process that patches a hundred files is killed again and again. After the next start either all files have the
 * patch or none has.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { rounds, tempDir } from '#testing';
import { leftoversIn } from '../jail/jail-write-support.ts';

const KILLS = rounds(2, 40, 1000);
const FILES = 100;
const PATCHER = fileURLToPath(new URL('patch-crash-patcher.mjs', import.meta.url));

test(
  `patch.C5 coder.P25 SIGKILL during a patch of ${FILES} files: all or none, ${KILLS} times`,
  async () => {
    const names = Array.from({ length: FILES }, (_, i) => `ws/d${i % 7}/f${i}`);
    await using dir = await tempDir({ 'state/': '', ...Object.fromEntries(names.map((name) => [name, 'round 0\n'])) });
    const env = { ...process.env, XDG_STATE_HOME: dir.path('state') };
    const found = { mixed: 0, cutShort: 0, left: 0 };
    const isMet = () => found.cutShort + found.left > 0;
    for (let kill = 0; kill <= KILLS || (kill < 20 * KILLS && !isMet()); kill++) {
      const patcher = fork(PATCHER, [dir.path('ws'), String(FILES)], { execArgv: [], env });
      // Sent after the start, which rolls back the edit of the killed process.
      await once(patcher, 'message', { signal: AbortSignal.timeout(60_000) });
      const rounds = new Set(names.map((name) => readFileSync(dir.path(name), 'utf8')));
      if (rounds.size !== 1) found.mixed++;
      patcher.send('go');
      const [tookMs] = (await once(patcher, 'message', { signal: AbortSignal.timeout(60_000) })) as [number];
      await sleep(Math.random() * tookMs);
      patcher.kill('SIGKILL');
      await once(patcher, 'exit');
      if (new Set(names.map((name) => readFileSync(dir.path(name), 'utf8'))).size > 1) found.cutShort++;
      found.left += leftoversIn(dir.path('ws')).length;
    }
    console.log(`${KILLS} kills:`, found);
    expect(found.mixed).toBe(0);
    // Proves that kills interrupted patches at all.
    expect(found.cutShort + found.left).toBeGreaterThan(0);
    expect(readdirSync(dir.path('ws')).length).toBe(7);
  },
  rounds(600_000, 600_000, 3_600_000),
);
