/**
 * One node as a process of its own, driven by messages of its parent: it is killed and stopped by signals.
 *
 * Tests of faults and the benchmark of the cluster start it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { ClusterSettingsSchema, joinCluster, OwnNode } from '../../../dist/cluster/index.js';
import { connect } from '../../../dist/client/index.js';
import { Engine } from '../../../dist/engine/index.js';

const [node, servers, clockMs = '0'] = process.argv.slice(2);
const clock = Date.now;
if (clockMs !== '0') Date.now = () => clock() + Number(clockMs);
const log = { debug() {}, info() {}, warn() {}, error: (text, fields) => console.error(node, text, fields) };
const engine = new Engine({});
const ran = new Map();
let cancelled = 0;
let itemsRead = 0;
let isStormLasting = false;

const link = await engine.dialer().dial();
link.attach({
  frame(frame) {
    if (frame.type === 'cancelinvocation') cancelled++;
    if (frame.type === 'invokefunction') void work(frame);
  },
  closed() {},
});

async function work({ invocation_id, data: { key, ms } }) {
  ran.set(key, (ran.get(key) ?? 0) + 1);
  if (ms > 0) await sleep(ms);
  link.send({ type: 'invocationresult', invocation_id, result: { key, by: node } });
}

async function readAll(reader) {
  const items = reader[Symbol.asyncIterator]();
  while (!(await items.next()).done) itemsRead++;
}

const data = { name: 'work', pid: 1, features: ['cancel'] };
link.send({ type: 'invokefunction', function_id: 'engine::workers::register', action: { type: 'void' }, data });
link.send({ type: 'registerfunction', id: 'work::once' });

const settings = ClusterSettingsSchema.parse({ servers: servers.split(','), node, share: ['work'] });
const cluster = await joinCluster(engine, settings, { log, ownNode: new OwnNode(settings, '0') });
const bus = await connect(engine.dialer(), { name: 'caller' });

/** On the clock that all processes of this machine share. */
const now = () => performance.timeOrigin + performance.now();

const operations = {
  /** Registers functions like `work::once`, and reports when. */
  serve({ ids }) {
    for (const id of ids) link.send({ type: 'registerfunction', id, metadata: { workcell: { scope: 'one' } } });
    return now();
  },
  /** Waits until it knows this many functions under a prefix, its own among them, and says when. */
  async whenListed({ prefix, count }) {
    for (;;) {
      const { functions } = await bus.call('engine::functions::list', { prefix });
      if (functions.length >= count) return now();
      await sleep(2);
    }
  },
  /** Memory after a garbage collection, without the keys that this program keeps itself. */
  keptMb() {
    ran.clear();
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  },
  memoryMb: () => Math.round(process.memoryUsage().rss / 2 ** 20),
  peers: () =>
    cluster
      .nodes()
      .filter((row) => !row.self && row.functions > 0)
      .map(({ name }) => name),
  cancelled: () => cancelled,
  /** Keys that ran more than once, and how many ran. */
  ran: () => ({ count: ran.size, twice: [...ran].filter(([, times]) => times > 1).map(([key]) => key) }),
  isRunning: ({ key }) => ran.has(key),
  /** How many of these keys ran. */
  countOf: ({ keys }) => keys.filter((key) => ran.has(key)).length,
  /** Makes a channel, and holds one end: it writes a text, or reads all that comes. */
  async channel({ write }) {
    const pair = await bus.createChannel();
    if (write === undefined) void readAll(await bus.openReader(pair.reader));
    else await (await bus.openWriter(pair.writer)).write(write);
    return pair;
  },
  itemsRead: () => itemsRead,
  async call({ id, namespace, data: payload }) {
    try {
      return { result: await bus.call(id, payload, { namespace, timeoutMs: 60_000 }) };
    } catch (error) {
      return { code: error.code, message: error.message };
    }
  },
  /**
   * Calls with a key each, some of which take long. Every one is answered exactly once, or this never ends. With `isLasting`
   * it continues until `endStorm`, and then until as many as `count` were answered with a result.
   */
  async storm(given) {
    const { id = 'work::once', namespace, count = Infinity, seconds = Infinity, inFlight, prefix, bytes = 0 } = given;
    const { isLasting = false } = given;
    const codes = {};
    const failed = {};
    const pad = 'x'.repeat(bytes);
    isStormLasting = isLasting;
    const endsAt = performance.now() + seconds * 1_000;
    let [next, ok, longestMs, lastFailureAt] = [0, 0, 0, 0];
    const lane = async () => {
      while ((isLasting ? isStormLasting || ok < count : next < count) && performance.now() < endsAt) {
        const key = `${prefix}${next++}`;
        const startedAt = performance.now();
        const ms = Math.random() < 0.02 ? 1_500 : Math.random() * 20;
        try {
          const { key: answered } = await bus.call(id, { key, ms, pad }, { namespace, timeoutMs: 60_000 });
          if (answered !== key) throw new Error('the answer of another call');
          ok++;
        } catch (error) {
          const code = error.code ?? error.message;
          codes[code] = (codes[code] ?? 0) + 1;
          (failed[code] ??= []).push(key);
          lastFailureAt = now();
          await sleep(isLasting ? 100 : 20);
        }
        longestMs = Math.max(longestMs, performance.now() - startedAt);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return { calls: next, ok, codes, failed, longestMs: Math.round(longestMs), lastFailureAt };
  },
  endStorm() {
    isStormLasting = false;
  },
  async leave() {
    await cluster.leave();
    setImmediate(() => process.exit(0));
  },
};

async function answer({ number, operation, given }) {
  try {
    process.send({ number, result: await operations[operation](given ?? {}) });
  } catch (error) {
    process.send({ number, error: error.stack });
  }
}

process.on('message', (message) => void answer(message));
process.on('disconnect', () => process.exit(0));
process.send({ number: 0, result: 'joined' });
