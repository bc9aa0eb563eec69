/**
 * The orphan hunt: random trees of processes, each the job of a server, ended by a timeout, a kill, their own exit,
 * or with the server, however that goes down. None of their processes may survive, whatever it did to escape; and
 * other jobs must still run. Every other tree has a terminal; in about half of the rounds the program `script` makes it.
 *
 * WORKCELL_SEED repeats a hunt; the trees are then the same, the timing is not.
 */
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { ownCgroup, type Containment } from '#host';
import { isFull, NOBODY_UID, rounds } from '#testing';
import { findScript } from '../../../src/host/terminal/script-terminal.ts';
import { ChildrenServer } from './shell-orphans-server.ts';
import { Random, survivorsOf, treeDigits, treeScript, type Wildness } from './shell-orphans-tree.ts';

/** Trees for the containment used here, and for each other one that works. */
const TREES = { best: rounds(5, 50, 500), other: rounds(5, 20, 500) };
const TREES_AT_ONCE = 5;
const SEED = Number(process.env.WORKCELL_SEED ?? randomInt(2 ** 31));
/** Servers that are killed with their guardians, one after another. */
const UNGUARDED_KILLS = rounds(1, 4, 100);
/** How long the guardian of a dead server may take on a busy machine; a survivor sleeps longer, for 300 s. */
const AFTERMATH_MS = 30_000;
/** How long a tree may take to have its first process. */
const GROWTH_PATIENCE_MS = 120_000;

const hasScript = findScript() !== undefined;
const ENDS = ['exit', 'timeout', 'kill', 'server'] as const;
const SERVER_ENDS = ['SIGKILL', 'close', 'SIGKILL', 'SIGTERM', 'disconnect'] as const;

interface Tree {
  job: number;
  digits: string;
  end: (typeof ENDS)[number];
}

interface Hunt {
  containment: Containment | 'best';
  trees: number;
  uid?: number;
  isFenced?: boolean;
  /** Combines two variants that other hunts test alone: full run only. */
  isPair?: boolean;
}

const ORDINARY_USER: [string, Hunt][] = [
  ['the fence of an ordinary user', { containment: 'best', trees: TREES.other, uid: NOBODY_UID, isFenced: true }],
  ['the best way of an ordinary user', { containment: 'best', trees: TREES.other, uid: NOBODY_UID, isPair: true }],
  ['session of an ordinary user', { containment: 'session', trees: TREES.other, uid: NOBODY_UID, isPair: true }],
];
const HUNTS: [string, Hunt][] = [
  ['the best way', { containment: 'best', trees: TREES.best }],
  ['cgroup1', { containment: 'cgroup1', trees: TREES.other, isPair: true }],
  ['pid-namespace', { containment: 'pid-namespace', trees: TREES.other }],
  ['session', { containment: 'session', trees: TREES.other }],
  ['the fence', { containment: 'best', trees: TREES.other, isFenced: true }],
  ['the fence, bounds by sessions', { containment: 'session', trees: TREES.other, isFenced: true, isPair: true }],
  // Only root can become one.
  ...(process.getuid?.() === 0 ? ORDINARY_USER : []),
];

describe.skipIf(process.platform !== 'linux')(`shell.P5 live.D8 the orphan hunt with seed ${SEED}`, () => {
  test.for(HUNTS)('of %s', { timeout: 3_600_000 }, async ([name, hunt], { skip }) => {
    skip(hunt.isPair === true && !isFull, 'npm run test:full hunts it');
    const first = await ChildrenServer.start(hunt.containment, hunt).catch((error: unknown) => error);
    if (!(first instanceof ChildrenServer)) return skip(`it does not work here: ${String(first)}`);

    const bounds = boundsOf(first.containment, hunt);
    const random = new Random(SEED);
    const tally: Record<string, number> = { processes: 0, survivors: 0 };
    const least = hunt.trees / TREES_AT_ONCE;
    // On until enough trees had grown before their end: a busy machine ends some that have no child yet.
    for (let round = 0; round < least || (round < 10 * least && tally.processes! <= hunt.trees); round++) {
      const terminals = hasScript && random.below(2) === 0 ? 'script' : 'best';
      const server = round === 0 ? first : await ChildrenServer.start(hunt.containment, { ...hunt, terminals });
      await huntOnce(server, { bounds, random, tally });
    }
    console.log(`${hunt.trees} trees of ${name} (${first.containment}), seed ${SEED}:`, tally);
    expect(tally.survivors).toBe(0);
    expect(tally.processes).toBeGreaterThan(hunt.trees);
  });
});

describe.skipIf(process.platform !== 'linux')('jobs whose server and guardian were both killed', () => {
  test.for(['cgroup2', 'cgroup1'] as const)(
    'shell.P5 end when a server starts (%s)',
    { timeout: 600_000 },
    async (kind, { skip }) => {
      const living = await ChildrenServer.start(kind).catch((error: unknown) => error);
      if (!(living instanceof ChildrenServer)) return skip(`it does not work here: ${String(living)}`);
      const random = new Random(SEED);
      const spared = await guardedJob(living, kind, random);

      for (let kill = 0; kill < UNGUARDED_KILLS; kill++) {
        const server = await ChildrenServer.start(kind);
        const { digits, top } = await guardedJob(server, kind, random);
        await server.dieUnguarded();
        const next = await ChildrenServer.start(kind);
        const left = survivorsOf(digits);
        cleanUp(digits);
        expect([left, existsSync(top)]).toEqual([[], false]);
        await next.close();
      }
      expect(survivorsOf(spared.digits)).not.toEqual([]);
      expect(existsSync(spared.top)).toBe(true);
      await living.close();
    },
  );
});

/** A tree that runs, and the group above all jobs of its server. */
async function guardedJob(server: ChildrenServer, kind: 'cgroup2' | 'cgroup1', random: Random) {
  const digits = treeDigits();
  await startTree(server, { job: 0, digits, end: 'server' }, { random, wildness: 'keeps-its-groups' });
  await populationOf(digits);
  const groups = readFileSync(`/proc/${survivorsOf(digits)[0]!.pid}/cgroup`, 'utf8');
  const [, name] = new RegExp(`^\\d+:${kind === 'cgroup2' ? '' : 'pids'}:.*(/workcell-jobs[^/]*)`, 'm').exec(groups)!;
  return { digits, top: join(ownCgroup(kind === 'cgroup2' ? 'unified' : 'pids')!, name!) };
}

interface Bounds {
  wildness: Wildness;
  /** How long leftovers of an exit may live after the reply. */
  afterExitMs: number;
}

/** The best effort leaves gaps, which are documented and have a test of their own; and it does not keep a reply waiting. */
function boundsOf(containment: Containment, { uid = process.getuid!() }: Hunt): Bounds {
  if (containment !== 'session') return { wildness: uid === 0 ? 'any' : 'keeps-its-groups', afterExitMs: 0 };
  return { wildness: uid === 0 ? 'keeps-its-groups' : 'keeps-its-environment', afterExitMs: AFTERMATH_MS };
}

async function huntOnce(
  server: ChildrenServer,
  { bounds, random, tally }: { bounds: Bounds; random: Random; tally: Record<string, number> },
): Promise<void> {
  const plans = Array.from({ length: TREES_AT_ONCE }, (_, job) => ({
    tree: { job, digits: treeDigits(), end: random.pick(ENDS) },
    random: new Random(random.below(2 ** 31)),
  }));
  await Promise.all(plans.map(endOne));

  const rest = plans.map(({ tree }) => tree).filter(({ end }) => end === 'server');
  for (const { digits } of rest) tally.processes! += await populationOf(digits);
  const end = random.pick(SERVER_ENDS);
  if (end === 'close') await server.close();
  else await server.die(end);
  await expectGone(rest, { within: end === 'close' ? 0 : AFTERMATH_MS, end });

  async function endOne({ tree, random }: (typeof plans)[number]) {
    await startTree(server, tree, { random, wildness: bounds.wildness });
    if (tree.end === 'server') return;
    await sleep(random.below(150));
    tally.processes! += survivorsOf(tree.digits).length;
    if (tree.end === 'kill') await server.kill(tree.job);
    else await server.done(tree.job);
    const within = tree.end === 'exit' ? bounds.afterExitMs : 0;
    await expectGone([tree], { within, end: tree.end });
  }

  async function expectGone(trees: Tree[], { within, end }: { within: number; end: string }) {
    tally[end] = (tally[end] ?? 0) + trees.length;
    const deadline = performance.now() + within;
    for (const { digits } of trees) {
      let left = survivorsOf(digits);
      while (left.length > 0 && performance.now() < deadline) {
        await sleep(10);
        left = survivorsOf(digits);
      }
      // A process in the middle of an exec shows no command line.
      if (left.length === 0) await sleep(20);
      left = [...left, ...survivorsOf(digits)];
      tally.survivors! += left.length;
      cleanUp(digits);
      expect(left, `alive after ${end}`).toEqual([]);
    }
  }
}

async function startTree(
  server: ChildrenServer,
  { job, digits, end }: Tree,
  { random, wildness }: { random: Random; wildness: Wildness },
): Promise<void> {
  const last = end === 'exit' ? `sleep 0.${random.below(3)}${digits}` : `wait; sleep 300.${digits}`;
  const script = treeScript(random, digits, { wildness, last });
  await server.start(job, {
    argv: ['sh', '-c', script],
    env: { PATH: process.env.PATH!, TREE: digits },
    maxOutputBytes: 1000,
    ...(random.below(2) === 0 ? { terminal: { columns: 80, rows: 24 } } : {}),
    ...(end === 'timeout' ? { timeoutMs: random.below(300) } : {}),
  });
}

/** Only a failed hunt leaves something to kill; fork bombs need several attempts. */
function cleanUp(digits: string): void {
  for (let stroke = 0; stroke < 100; stroke++) {
    const left = survivorsOf(digits);
    if (left.length === 0) return;
    for (const { pid } of left) killIfAlive(pid);
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

/** Waits for at least one process: the tree is not killed yet. */
async function populationOf(digits: string): Promise<number> {
  await expect.poll(() => survivorsOf(digits).length, { timeout: GROWTH_PATIENCE_MS }).toBeGreaterThan(0);
  return survivorsOf(digits).length;
}
