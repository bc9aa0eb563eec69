/** Creates sandboxes and runs commands in them at fixed rates, however long the answers take. `client.mjs URL`. */
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '#client';

import { serveParent } from '../../../processes.mjs';
import { median, percentile } from '../../../statistics.mjs';

const TICK_MS = 5;
const bus = await connect(process.argv[2]);

async function load({ createsPerSecond, execsPerSecond, seconds }) {
  const made = [];
  const [creates, execs, codes] = [[], [], {}];
  const timed = async (list, id, payload) => {
    const started = performance.now();
    try {
      const reply = await bus.call(id, payload, { timeoutMs: 30_000 });
      list.push(performance.now() - started);
      return reply;
    } catch ({ code }) {
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  const create = async () => {
    const reply = await timed(creates, 'sandbox::create', { image: 'python' });
    if (reply) made.push(reply.sandbox_id);
  };
  const exec = () => {
    const sandbox_id = made[Math.floor(Math.random() * made.length)];
    return timed(execs, 'sandbox::exec', { sandbox_id, argv: ['true'] });
  };

  const running = [];
  const started = performance.now();
  let [created, executed] = [0, 0];
  for (let passed = 0; passed < seconds; passed = (performance.now() - started) / 1000) {
    for (; created < passed * createsPerSecond; created++) running.push(create());
    if (made.length > 0) for (; executed < passed * execsPerSecond; executed++) running.push(exec());
    else executed = passed * execsPerSecond;
    await sleep(TICK_MS);
  }
  await Promise.all(running);
  const spread = (list) => ({ count: list.length, p50: median(list), p99: percentile(list, 0.99) });
  return { creates: spread(creates), execs: spread(execs), codes, distinct: new Set(made).size };
}

serveParent({}, load);
