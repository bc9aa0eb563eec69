/**
 * Costs of policies, the audit and telemetry for a call, each switched on alone, beside a server that has none of them.
 *
 * Each arrangement is a process of its own; over HTTP this process calls it, over the bus it calls itself.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

import { Program } from '../processes.mjs';
import { formatNumber, time } from '../units.mjs';
import { TWENTY_RULES } from './access/rules.mjs';
import { measure } from './access/measure.mjs';
import { Corpus } from './files/corpus.mjs';

export const name = 'access';
export const description = 'What policies, the audit and telemetry cost a call of coder, switched off and on.';

const NOTHING = 'nothing';
const AGAIN = 'nothing, again';
const OFF = 'all off';
const NO_AUDIT = { audit: { max_bytes: 0, keep: 0 } };
const AUDIT = { audit: { max_bytes: 64 * 2 ** 20, keep: 10 } };
const SCRAPED = '/metrics each second';
/** Short, so that the cases of a round meet the same neighbours; a scrape takes a second's work. */
const SLICE_MS = 200;
const SECOND_MS = 1000;
const OTLP = 'OTLP';

const MEASURES = { p50: { label: 'p50', unit: time }, cpu: { label: 'processor time', unit: time } };

const NOTE = `\
- ${NOTHING}: a server without access rules, audit and telemetry, as a program has it that assembles its own.
- ${AGAIN}: another process of the same; how far it is from 1 says how much the machine's noise is worth.
- ${OFF}: as \`workcell start\` has it, with \`audit: { max_bytes: 0 }\`, without a policy and without a collector.
- audit: a record of every call that is not only a read.
- 20 rules: a policy of that many rules, all of which are checked for each call.
- ${OTLP}: a span of each call, and the metrics, to a collector in a process of its own that answers 200.

Processor time is that of the server's process in the round, for each call: it includes what is exported beside the calls.`;

const ARRANGEMENTS = {
  [NOTHING]: {},
  [OFF]: { access: NO_AUDIT },
  audit: { access: AUDIT },
  '20 rules': { access: { ...NO_AUDIT, local: 'twenty', policies: { twenty: TWENTY_RULES } } },
  [OTLP]: { access: NO_AUDIT, isTraced: true },
  [AGAIN]: {},
};

export async function run(harness) {
  const corpus = new Corpus();
  const programs = [];
  try {
    const { servers, collector } = await startAll(corpus, programs);
    for (const work of ['read', 'edit']) {
      for (const door of ['HTTP', 'bus']) await compareDoor(harness, servers, { door, work });
    }
    await compareScraping(harness, servers[OFF]);
    const sent = await collector.request({});
    if (sent === 0) throw new Error('the collector got nothing: OTLP was not on');
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    corpus.remove();
  }
}

/** Every program started is in `programs`, also if a later one fails. */
async function startAll(corpus, programs) {
  const start = async (file, ...args) => {
    const program = await Program.start(new URL(`./access/${file}.mjs`, import.meta.url), ...args);
    programs.push(program);
    return program;
  };
  const collector = await start('collector');
  const servers = {};
  for (const [at, [label, { access, isTraced }]] of Object.entries(ARRANGEMENTS).entries()) {
    for (const file of ['read', 'edited']) corpus.text(`work-${at}/${file}.ts`, 4000);
    const settings = {
      ...{ workspace: corpus.path(`work-${at}`), state: corpus.path(`state-${at}`), access },
      ...(isTraced && { endpoint: collector.ready.url }),
    };
    servers[label] = await start('server', JSON.stringify(settings));
  }
  return { servers, collector };
}

async function compareDoor(harness, servers, { door, work }) {
  const ms = SLICE_MS;
  const cases = Object.entries(servers).map(([label, server]) => {
    const calls = door === 'bus' ? () => server.request({ work, ms }) : () => measure(callerOf(server), work, ms);
    return [label, () => withProcessorTime(server, calls)];
  });
  const comparison = await harness.compare({
    title: `${work === 'read' ? 'Reading 4 KB' : 'Replacing a line of 4 KB, not synced to the disk'}, ${door}`,
    note: door === 'HTTP' && work === 'read' ? NOTE : undefined,
    base: NOTHING,
    measures: MEASURES,
    cases: Object.fromEntries(cases),
    rounds: 61,
  });
  const ratio = comparison.ratio('cpu', OFF, NOTHING);
  const noise = comparison.ratio('cpu', AGAIN, NOTHING);
  harness.bar({
    id: `A${harness.bars.length + 1}`,
    goal: `switched off, processor time of ${work === 'read' ? 'a read' : 'an edit'} over ${door} ≤ 1.05 × the slower process that has nothing`,
    measured: `${formatNumber(ratio / Math.max(1, noise))} ×`,
    met: ratio <= 1.05 * Math.max(1, noise),
  });
}

/** In seconds of calls: one process, with and without a scrape in the middle of each. */
function compareScraping(harness, server) {
  const ms = harness.isQuick ? SLICE_MS : SECOND_MS;
  const calls = () => server.request({ work: 'read', ms });
  return harness.compare({
    title: 'Reading 4 KB over the bus, and `/metrics` each second',
    base: 'not scraped',
    measures: MEASURES,
    cases: {
      'not scraped': () => withProcessorTime(server, calls),
      [SCRAPED]: () => withProcessorTime(server, () => scraped(server, calls, ms / 2)),
    },
    rounds: 31,
  });
}

/** Each server has a connection that is kept open. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function callerOf({ ready: { url } }) {
  return async (id, payload) => {
    const headers = { 'Content-Type': 'application/json' };
    const asking = request(`${url}/functions/${id.replace('::', '/')}`, { method: 'POST', headers, agent });
    asking.end(JSON.stringify(payload));
    const [answer] = await once(asking, 'response');
    const body = await text(answer);
    if (answer.statusCode !== 200) throw new Error(`${id}: ${body}`);
  };
}

/**
 * Processor time of the server for a call, with all its work beside the calls: it is steadier than time on a busy machine.
 */
async function withProcessorTime(server, work) {
  const before = await server.request({});
  const { p50, calls } = await work();
  return { p50, cpu: ((await server.request({})) - before) / calls };
}

async function scraped({ ready: { url } }, calls, afterMs) {
  const scrape = new Promise((resolve) => setTimeout(resolve, afterMs)).then(() => fetch(`${url}/metrics`));
  const measured = await calls();
  const answer = await scrape;
  await answer.text();
  return measured;
}
