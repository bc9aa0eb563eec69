/**
 * Sandboxes of namespaces beside the two programs that make something like them for each command: bwrap and runc.
 *
 * All three run the same busybox root, so the times are those of creating the sandbox. Missing programs are installed
 * when this runs as root, and left out otherwise.
 */
import { formatMs, formatNumber, time } from '../units.mjs';
import { AgentClient, GuestFiles, imagesHere, namespacesBackend } from './sandbox/built.mjs';
import { BenchRoot } from './sandbox/root.mjs';
import { bwrap, bare, makeRuncBundle, runc } from './sandbox/peers.mjs';
import { measureRungs } from './sandbox/rungs.mjs';

export const name = 'sandbox';
export const description =
  'Disposable machines of namespaces, in this process, beside bwrap and runc started for each command; then every rung.';

const OURS = 'workcell';
const MIB = 2 ** 20;
const { signal } = new AbortController();

export async function run(harness) {
  const root = await BenchRoot.make();
  const bench = new Machines(root);
  try {
    await compareFirstCommand(harness, bench, root);
    await compareCommand(harness, bench, root);
    await measureFiles(harness, bench);
    await measureMany(harness, bench);
    await measurePython(harness, bench);
    await measureRungs(harness, root);
  } finally {
    await bench.stopAll();
    root.remove();
  }
}

/** bench-sandbox.S1 */
async function compareFirstCommand(harness, bench, root) {
  const bundle = makeRuncBundle(root.path);
  const cases = {
    [OURS]: async () => {
      const started = performance.now();
      const machine = await bench.start();
      await machine.exec(['true']);
      const elapsed = performance.now() - started;
      await machine.stop();
      return { time: elapsed };
    },
    ...(bwrap.isThere && { bwrap: () => bwrap.run(root.path, ['/bin/true']) }),
    ...(runc.isThere && { runc: () => runc.run(bundle, ['/bin/true']) }),
  };
  const first = await harness.compare({
    title: 'A new sandbox and its first command',
    note: 'From nothing to the exit of `true`.',
    base: OURS,
    cases,
    rounds: 31,
  });
  const median = first.median('time', OURS);
  harness.bar({ id: 'S1', goal: 'create and first `true` ≤ 8.4 ms', measured: formatMs(median), met: median <= 8.4 });
}

/** bench-sandbox.S2 */
async function compareCommand(harness, bench, root) {
  const machine = await bench.start();
  const often = (work) => async () => {
    const started = performance.now();
    for (let i = 0; i < 20; i++) await work();
    return { time: (performance.now() - started) / 20 };
  };
  const command = await harness.compare({
    title: 'One more command in it',
    note: '`true` in a sandbox that lives; bwrap makes another one for it, and bare is `true` on the host.',
    base: OURS,
    cases: {
      [OURS]: often(() => machine.exec(['true'])),
      ...(bwrap.isThere && { bwrap: often(() => bwrap.run(root.path, ['/bin/true'])) }),
      'bare spawn': often(() => bare(['true'])),
    },
    rounds: 15,
  });
  const median = command.median('time', OURS);
  harness.bar({ id: 'S2', goal: '`true` in a live sandbox ≤ 1.8 ms', measured: formatMs(median), met: median <= 1.8 });
  await machine.stop();
}

/** bench-sandbox.S3 */
async function measureFiles(harness, bench) {
  const machine = await bench.start();
  const bytes = Buffer.alloc(10 * MIB, 'x');
  const files = new GuestFiles(machine.agent);
  const perSecond = (elapsedMs) => 10 / (elapsedMs / 1000);
  const unit = { better: 'higher', format: (value) => `${formatNumber(value)} MiB/s` };
  const transfer = await harness.compare({
    title: '10 MiB in and out',
    base: 'write',
    measures: { rate: { label: 'rate', unit } },
    cases: {
      write: async () => {
        const started = performance.now();
        await files.write('/tmp/f', only(bytes), { parents: false }, { signal });
        return { rate: perSecond(performance.now() - started) };
      },
      read: async () => {
        const started = performance.now();
        const file = await files.read('/tmp/f', { signal });
        let length = 0;
        for await (const piece of file.bytes) length += piece.length;
        if (length !== bytes.length) throw new Error(`read ${length} bytes`);
        return { rate: perSecond(performance.now() - started) };
      },
    },
    rounds: 31,
  });
  const [write, read] = ['write', 'read'].map((which) => transfer.median('rate', which));
  harness.bar({
    id: 'S3',
    goal: 'write ≥ 180 MiB/s, read ≥ 98 MiB/s',
    measured: `${formatNumber(write)}, ${formatNumber(read)}`,
    met: write >= 180 && read >= 98,
  });
  await machine.stop();
}

/** bench-sandbox.S4 */
async function measureMany(harness, bench) {
  const count = harness.isQuick ? 10 : 50;
  await harness.compare({
    title: `${count} sandboxes alive`,
    note: 'Made one after another; then `true` in all of them at once; then stopped together.',
    base: 'make',
    measures: { time: { label: 'time for all', unit: time } },
    cases: await manyCases(bench, count),
    rounds: 5,
  });
}

async function manyCases(bench, count) {
  let machines = [];
  return {
    make: async () => {
      await Promise.all(machines.map((machine) => machine.stop()));
      machines = [];
      const started = performance.now();
      for (let i = 0; i < count; i++) machines.push(await bench.start());
      return { time: performance.now() - started };
    },
    'true in all': async () => {
      while (machines.length < count) machines.push(await bench.start());
      const started = performance.now();
      await Promise.all(machines.map((machine) => machine.exec(['true'])));
      return { time: performance.now() - started };
    },
  };
}

/** bench-sandbox.S5 */
async function measurePython(harness, bench) {
  const images = imagesHere();
  if (!(await images.isCached('python'))) {
    console.log('\nNo python image is in the cache: `workcell sandbox pull python` makes one.');
    return;
  }
  const prepared = await images.prepare('python', { signal });
  const image = { ...prepared, directory: async () => prepared.rootDir };
  const python = await harness.compare({
    title: 'A new sandbox that runs python',
    note: 'Create, then `python3 -c "print(1)"`.',
    base: 'whole',
    cases: {
      whole: async () => {
        const machine = await bench.start(image);
        const started = performance.now();
        await machine.exec(['python3', '-c', 'print(1)']);
        const elapsed = performance.now() - started;
        await machine.stop();
        return { time: elapsed };
      },
    },
    rounds: 15,
  });
  const median = python.median('time', 'whole');
  harness.bar({ id: 'S5', goal: 'python3 -c in a new sandbox ≤ 26 ms', measured: formatMs(median), met: median <= 26 });
}

async function* only(bytes) {
  yield bytes;
}

/** Machines of the backend that this benchmark still has to stop. */
class Machines {
  #backend;
  #root;
  #living = new Set();
  #count = 0;

  constructor(root) {
    this.#root = root;
    this.#backend = namespacesBackend({ cacheDir: root.cacheDir });
  }

  async start(
    image = { name: 'bench', ref: 'bench', digest: 'none', directory: async () => this.#root.path, env: [] },
  ) {
    const shape = { image, cpus: 1, memoryMb: 256, diskMb: 64 };
    const instance = await this.#backend.create(shape, { id: `bench-${this.#count++}`, signal });
    const agent = await AgentClient.open(instance.channel, { deadlineMs: 10_000 });
    const env = [['PATH', '/usr/bin:/bin']];
    const machine = {
      agent,
      exec: (argv) =>
        agent.exec({
          argv,
          env,
          cwd: '/',
          maxOutputBytes: MIB,
          timeoutMs: 60_000,
          signal: new AbortController().signal,
        }),
      stop: async () => {
        this.#living.delete(machine);
        await instance.kill();
        await instance.dispose();
      },
    };
    this.#living.add(machine);
    return machine;
  }

  async stopAll() {
    await Promise.all([...this.#living].map((machine) => machine.stop()));
  }
}
