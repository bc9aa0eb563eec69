/**
 * The orphan hunt in sandboxes: random trees of processes, each a job with or without a terminal, ended by a kill or by
 * their timeout. Nothing of a tree may survive in the guest, and its neighbours must.
 *
 * WORKCELL_SEED repeats a hunt; the trees are then the same, the timing is not.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  rounds,
  serveSandboxes,
  SLOWNESS,
  whyNoSandbox,
  type SandboxCases,
} from '#testing';
import { Random, treeDigits, treeScript } from '../shell/shell-orphans-tree.ts';

vi.setConfig({ hookTimeout: IMAGE_PATIENCE_MS });
const whyNot = await whyNoSandbox(['python']);

const TREES = SLOWNESS > 1 ? rounds(2, 12, 100) : rounds(8, 40, 400);
/** Time limit of the whole hunt; each of its calls has `CASE_PATIENCE_MS`. */
const HUNT_TIMEOUT_MS = 20 * CASE_PATIENCE_MS;
const SEED = Number(process.env.WORKCELL_SEED ?? randomInt(2 ** 31));

/** Prints the command lines of the processes whose arguments or environment have the word on standard input. */
const SURVIVORS = `
import os, sys
word = sys.stdin.buffer.read()
for pid in filter(str.isdigit, os.listdir('/proc')):
  try:
    line, env = (open(f'/proc/{pid}/{name}', 'rb').read() for name in ('cmdline', 'environ'))
    if word in line or word in env: print(line.replace(b'\\0', b' ').decode()[:200])
  except OSError: pass
`;

describe.skipIf(whyNot !== undefined)(
  `live.D8 orphans in sandboxes${whyNot === undefined ? '' : ` (${whyNot})`}`,
  () => {
    let cell: SandboxCases;
    let sandbox_id: string;
    beforeAll(async () => {
      cell = await serveSandboxes();
      sandbox_id = await cell.create({ memory_mb: 512 });
    });
    afterAll(() => cell?.[Symbol.asyncDispose]());

    const survivors = async (digits: string) => {
      const stdin = Buffer.from(digits).toString('base64');
      const asked = { sandbox_id, argv: ['python3', '-c', SURVIVORS], stdin };
      const { stdout } = await cell.call<{ stdout: string }>('sandbox::exec', asked, { timeoutMs: CASE_PATIENCE_MS });
      return stdout.split('\n').filter(Boolean);
    };

    test(
      `sandbox.P17 live.D8 nothing of ${TREES} trees is left, with seed ${SEED}`,
      { timeout: HUNT_TIMEOUT_MS },
      async () => {
        const random = new Random(SEED);
        const spared = treeDigits();
        const neighbour = { sandbox_id, argv: ['sleep', `3000.${spared}`] };
        await cell.call('sandbox::exec_bg', neighbour);
        const tally = { processes: 0, survivors: 0, terminals: 0, timeouts: 0 };
        for (let round = 0; round < TREES; round++) {
          const digits = treeDigits();
          const script = treeScript(random, digits, {
            wildness: 'keeps-its-groups',
            last: `wait; sleep 300.${digits}`,
          });
          const isTimeout = random.below(2) === 0;
          const terminal = random.below(2) === 0 ? { cols: 80, rows: 24 } : undefined;
          const timeout_ms = isTimeout ? (300 + random.below(300)) * SLOWNESS : undefined;
          const env = { TREE: digits };
          const asked = { sandbox_id, argv: ['sh', '-c', script], env, terminal, timeout_ms };
          const { job_id } = await cell.call<{ job_id: string }>('sandbox::exec_bg', asked);
          tally.processes += (await survivors(digits)).length;
          if (isTimeout)
            await cell.call('sandbox::output', { job_id, until: { exit: true }, wait_ms: CASE_PATIENCE_MS });
          else {
            await sleep(random.below(150));
            expect(await cell.call('sandbox::kill', { job_id })).toEqual({ job_id, killed: true, status: 'killed' });
          }
          const left = await survivors(digits);
          tally.survivors += left.length;
          tally.terminals += terminal ? 1 : 0;
          tally.timeouts += isTimeout ? 1 : 0;
          expect(left).toEqual([]);
        }
        console.log(`${TREES} trees in a sandbox, seed ${SEED}:`, tally);
        expect(tally.processes).toBeGreaterThan(TREES);
        expect(await survivors(spared)).toEqual([`sleep 3000.${spared} `]);
      },
    );
  },
);
