/** Memory after many commands at once beside background jobs. */
import { expect, test } from 'vitest';

import { rounds } from '#testing';
import { JOBS, loadShell } from './shell-load.ts';

const AT_ONCE = rounds(50, 50, 200);
const LOAD_MS = rounds(2_000, 2_000, 60_000);
/** Far less than one buffer a command would add up to. */
const MAX_GROWTH_BYTES = 96 * 2 ** 20;

test.runIf(process.platform === 'linux')(
  `shell.P8 ${AT_ONCE} commands at once and ${JOBS} jobs leak no memory`,
  { timeout: LOAD_MS + 120_000 },
  async () => {
    const { growthBytes } = await loadShell({ atOnce: AT_ONCE, loadMs: LOAD_MS });
    expect(growthBytes).toBeLessThan(MAX_GROWTH_BYTES);
  },
);
