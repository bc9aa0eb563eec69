/** Many commands at once beside background jobs, again and again: they release all resources. */
import { test } from 'vitest';

import { rounds } from '#testing';
import { JOBS, loadShell } from './shell-load.ts';

const AT_ONCE = rounds(25, 50, 200);
const LOAD_MS = rounds(500, 2_000, 60_000);

test.runIf(process.platform === 'linux')(
  `shell.P8 ${AT_ONCE} commands at once and ${JOBS} jobs leak no descriptor and no process`,
  { timeout: LOAD_MS + 120_000 },
  async () => void (await loadShell({ atOnce: AT_ONCE, loadMs: LOAD_MS })),
);
