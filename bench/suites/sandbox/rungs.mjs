/**
 * The rungs side by side: costs of a new machine on each that this host has.
 *
 * The goals are what prototypes reached on this class of host, times 1.3. What KVM or HVF would give is not measured
 * where they do not work: a rung that does not probe has no row.
 */
import { setTimeout as passed } from 'node:timers/promises';

import { formatMs } from '../../units.mjs';
import { measureEgress } from './egress.mjs';
import { AgentClient, gvisorBackend, imagesHere, namespacesBackend, QemuBackend, WarmPool } from './built.mjs';

const { signal } = new AbortController();
const SIZE = { cpus: 1, memoryMb: 512, diskMb: 1024 };

/** A pool refills after it gave one out; no call is timed meanwhile. */
const REFILL_MS = 1500;

const PROTOTYPES_MS = { clone: 80, personalized: 101, pool: 2, gvisor: 176 };
const FACTOR = 1.3;

export async function measureRungs(harness, root) {
  const rungs = await workingRungs(root.cacheDir);
  const image = { name: 'bench', ref: 'bench', digest: 'bench', directory: async () => root.path, env: [] };
  const shape = { image, ...SIZE };
  for (const { backend } of rungs) await backend.prepare(shape, signal);
  try {
    await compareMaking(harness, rungs, shape);
    await compareFirst(harness, rungs, {
      shape,
      argv: ['true'],
      title: 'A new sandbox and its first command, by rung',
    });
    await comparePython(harness, rungs);
    await measureEgress(harness, rungs, shape);
  } finally {
    for (const { pool } of rungs) await pool?.close();
  }
}

async function workingRungs(cacheDir) {
  const candidates = [
    namespacesBackend({ cacheDir }),
    gvisorBackend({ cacheDir }),
    new QemuBackend({ cacheDir, accelerator: 'kvm' }),
    new QemuBackend({ cacheDir, accelerator: 'tcg' }),
  ];
  const rungs = [];
  for (const backend of candidates) {
    const probe = await backend.probe(signal);
    if (!probe.ok) console.log(`\n${backend.rung} is not measured: ${probe.reason}`);
    else rungs.push({ name: backend.rung, backend, pool: poolOf(backend) });
  }
  return rungs;
}

/** Where a machine is a copy, some wait. */
function poolOf(backend) {
  return backend.name === 'qemu' ? new WarmPool(backend, { minIdle: 1 }) : undefined;
}

/** bench-sandbox.S6 to bench-sandbox.S9 */
async function compareMaking(harness, rungs, shape) {
  const cases = {};
  for (const { name, backend, pool } of rungs) {
    cases[name] = () => timed(backend, shape, async () => {});
    if (!pool) continue;
    cases[`${name}, personalized`] = () => timed(backend, shape, (machine) => machine.introduce());
    cases[`${name}, from the pool`] = () => fromPool(pool, shape, (machine) => machine.introduce());
  }
  const made = await harness.compare({
    title: 'A new machine, by rung',
    note: 'Until its agent answers. A copy of a template is then personalized; one from the pool already is.',
    base: rungs[0].name,
    cases,
    rounds: 31,
  });
  const bar = (id, what, name, prototypeMs) => {
    if (!(name in cases)) return;
    const median = made.median('time', name);
    const goalMs = prototypeMs * FACTOR;
    harness.bar({ id, goal: `${what} ≤ ${formatMs(goalMs)}`, measured: formatMs(median), met: median <= goalMs });
  };
  bar('S6', 'a copy on qemu+tcg', 'qemu+tcg', PROTOTYPES_MS.clone);
  bar('S7', 'personalized', 'qemu+tcg, personalized', PROTOTYPES_MS.personalized);
  bar('S8', 'from the pool', 'qemu+tcg, from the pool', PROTOTYPES_MS.pool);
  bar('S9', 'a sandbox of gVisor', 'gvisor', PROTOTYPES_MS.gvisor);
}

async function compareFirst(harness, rungs, { shape, argv, title }) {
  const cases = {};
  const work = async (machine) => {
    await machine.introduce();
    await machine.exec(argv);
  };
  for (const { name, backend, pool } of rungs) {
    cases[name] = () => timed(backend, shape, work);
    if (pool) cases[`${name}, from the pool`] = () => fromPool(pool, shape, work);
  }
  const note = `From nothing to the exit of \`${argv.join(' ')}\`.`;
  await harness.compare({ title, note, base: rungs[0].name, cases, rounds: 15 });
}

async function comparePython(harness, rungs) {
  const images = imagesHere();
  if (!(await images.isCached('python'))) return;
  const image = await images.prepare('python', { signal });
  const shape = { image: { ...image, directory: async () => image.rootDir }, ...SIZE };
  for (const { backend } of rungs) await backend.prepare(shape, signal);
  const argv = ['python3', '-c', 'print(1)'];
  await compareFirst(harness, rungs, { shape, argv, title: 'A new sandbox that runs python, by rung' });
}

async function fromPool(pool, shape, work) {
  const result = await timed(pool, shape, work);
  await passed(REFILL_MS);
  return result;
}

let count = 0;

async function timed(backend, shape, work) {
  const started = performance.now();
  const instance = await backend.create(shape, { id: `rung-${process.pid}-${count++}`, signal });
  try {
    const agent = instance.agent ?? (await AgentClient.open(instance.channel, { deadlineMs: 60_000 }));
    await work({
      introduce: async () => instance.personalize?.(agent),
      exec: (argv) =>
        agent.exec({
          argv,
          env: [['PATH', '/usr/local/bin:/usr/bin:/bin']],
          cwd: '/',
          maxOutputBytes: 65_536,
          timeoutMs: 60_000,
          signal,
        }),
    });
    return { time: performance.now() - started };
  } finally {
    await instance.kill();
    await instance.dispose();
  }
}
