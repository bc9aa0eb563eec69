/**
 * What policies, the audit and telemetry cost a call, each switched on alone, beside a server that has none of them.
 *
 * Each arrangement is a process of its own; over HTTP this process calls it, over the bus it calls itself.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

import { Program } from '../processes.mjs';
import { formatNumber, rate, time } from '../units.mjs';
import { TWENTY_RULES } from './access/rules.mjs';
import { measure } from './access/measure.mjs';
import { Corpus } from './files/corpus.mjs';

export const name = 'access';
export const description = 'What policies, the audit and telemetry cost a call of coder, switched off and on.';

const NOTHING = 'nothing';
const OFF = 'all off';
const NO_AUDIT = { audit: { max_bytes: 0, keep: 0 } };
const AUDIT = { audit: { max_bytes: 64 * 2 ** 20, keep: 10 } };
const SCRAPED = '/metrics each second';
const OTLP = 'OTLP';

const NOTE = `\
- ${NOTHING}: a server without access rules, audit and telemetry, as a program has it that assembles its own.
- ${OFF}: as \`workcell start\` has it, with \`audit: { max_bytes: 0 }\`, without a policy and without a collector.
- audit: a record of every call that is not only a read.
- 20 rules: a policy of that many rules, all of which are held against each call.
- ${OTLP}: a span of each call, and the metrics, to a collector in a process of its own that answers 200.
- ${SCRAPED}: as \`${OFF}\`, and \`/metrics\` is read once in the second that a round takes.`;

const ARRANGEMENTS = {
  [NOTHING]: {},
  [OFF]: { access: NO_AUDIT },
  audit: { access: AUDIT },
  '20 rules': { access: { ...NO_AUDIT, local: 'twenty', policies: { twenty: TWENTY_RULES } } },
  [OTLP]: { access: NO_AUDIT, isTraced: true },
  [SCRAPED]: { access: NO_AUDIT },
};

export async function run(harness) {
  const corpus = new Corpus();
  const programs = [];
  try {
    const { servers, collector } = await startAll(corpus, programs);
    for (const work of ['read', 'edit']) {
      for (const door of ['HTTP', 'bus']) await compareDoor(harness, servers, { door, work });
    }
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
  const ms = harness.isQuick ? 100 : 1000;
  const cases = Object.entries(servers).map(([label, server]) => {
    const calls = door === 'bus' ? () => server.request({ work, ms }) : () => measure(callerOf(server), work, ms);
    return [label, label === SCRAPED ? () => scraped(server, calls, ms / 2) : calls];
  });
  const comparison = await harness.compare({
    title: `${work === 'read' ? 'Reading 4 KB' : 'Replacing a line of 4 KB, not synced to the disk'}, ${door}`,
    note: door === 'HTTP' && work === 'read' ? NOTE : undefined,
    base: NOTHING,
    measures: { p50: { label: 'p50', unit: time }, throughput: { label: 'calls', unit: rate } },
    cases: Object.fromEntries(cases),
    rounds: 15,
  });
  const ratio = comparison.ratio('p50', OFF, NOTHING);
  harness.bar({
    id: `A${harness.bars.length + 1}`,
    goal: `switched off, p50 of ${work} over ${door} ≤ 1.05 × ${NOTHING}`,
    measured: `${formatNumber(ratio)} ×`,
    met: ratio <= 1.05,
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

async function scraped({ ready: { url } }, calls, afterMs) {
  const scrape = new Promise((resolve) => setTimeout(resolve, afterMs)).then(() => fetch(`${url}/metrics`));
  const measured = await calls();
  const answer = await scrape;
  await answer.text();
  return measured;
}
