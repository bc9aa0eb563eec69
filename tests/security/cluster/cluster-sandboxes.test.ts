/** Hostile hosts and callers of sandboxes in a cluster: ids that lie about their owner. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect } from '#client';
import { CallError, silentLog, type SandboxReport } from '#contract';
import { onFleet, sandbox } from '#workers/sandbox';
import { NatsServers, NO_NATS } from '../../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown, type TestNode } from '../../cluster/support/nodes.ts';

const REPORT: SandboxReport = { places: 9, starting: 0, living: 0, max: 9, memory_free_mb: 9_000, images: [] };
const REST = '-0000-8000-8000-000000000001';

describe.skipIf(NO_NATS)('hosts that lie (needs nats-server)', () => {
  let nats: NatsServers;
  let door: TestNode;
  let honest: TestNode;
  let evil: TestNode;
  const asked: unknown[] = [];

  beforeAll(async () => {
    nats = await NatsServers.start();
    const share = { share: ['sandbox'] };
    [door, honest, evil] = await Promise.all([
      startNode(nats.urls, 'door'),
      startNode(nats.urls, 'honest', share),
      startNode(nats.urls, 'evil', share),
    ]);
    const { front } = onFleet(sandbox, door.cluster.ownNode);
    const worker = await connect(door.engine.dialer(), { name: 'iii-sandbox', log: silentLog });
    worker.serve({ def: front, context: {} });
    const ownedByHonest = `${honest.cluster.self.id}${REST}`;
    const answers = (sandbox_id: string) => ({
      'sandbox::create': () => ({ sandbox_id, image: 'tiny' }),
      'sandbox::list': () => ({
        sandboxes: [
          { sandbox_id, age_secs: 1 },
          { sandbox_id: ownedByHonest, age_secs: 2 },
        ],
      }),
      'sandbox::jobs': () => ({ jobs: [{ id: `job-${ownedByHonest}` }], count: 1 }),
      'sandbox::exec': (data: never) => {
        asked.push(data);
        throw new Error('handler error: {"code":"S002","message":"sandbox not found"}');
      },
    });
    await addWorker(honest.engine, answers(ownedByHonest), { scope: 'host' });
    await addWorker(evil.engine, answers(ownedByHonest), { scope: 'host' });
    honest.cluster.ownNode.offer(() => ({ ...REPORT }));
    evil.cluster.ownNode.offer(() => ({ ...REPORT }));
    await untilKnown(door, 'honest', 'evil');
    while (door.cluster.ownNode.hosts().length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  afterAll(async () => {
    await Promise.all([door, honest, evil].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  async function failure(id: string, payload: unknown): Promise<{ code: string; message: string }> {
    const error = await door.bus.call(id, payload).catch((thrown: unknown) => thrown);
    if (!(error instanceof CallError)) throw new Error(`no failure: ${JSON.stringify(error)}`);
    return { code: error.code, message: error.message };
  }

  test('cluster.X30 a host that answers a create with an id of another host is not believed', async () => {
    expect(await failure('sandbox::create', { image: 'tiny', node: 'evil' })).toMatchObject({ code: 'S300' });
    const made = await door.bus.call('sandbox::create', { image: 'tiny', node: 'honest' });
    expect(made).toMatchObject({ sandbox_id: `${honest.cluster.self.id}${REST}`, node: 'honest' });
  });

  test('cluster.X31 a list has only rows that their host owns', async () => {
    const { sandboxes } = (await door.bus.call('sandbox::list')) as {
      sandboxes: { sandbox_id: string; node: string }[];
    };
    expect(new Set(sandboxes.map(({ node }) => node))).toEqual(new Set(['honest']));
    const { jobs } = (await door.bus.call('sandbox::jobs')) as { jobs: { node: string }[] };
    expect(jobs.map(({ node }) => node)).toEqual(['honest']);
  });

  test('cluster.X32 a forged tag reaches only the host it names, which does not know the id; an unknown one reaches none', async () => {
    const before = asked.length;
    const forged = `${honest.cluster.self.id}-1111-8111-8111-111111111111`;
    expect(await failure('sandbox::exec', { sandbox_id: forged, cmd: 'true' })).toMatchObject({ code: 'S002' });
    expect(asked.slice(before)).toEqual([{ sandbox_id: forged, cmd: 'true' }]);
    for (const id of [`0badc0de${REST}`, `${honest.cluster.self.id}-0000-4000-8000-000000000001`]) {
      expect(await failure('sandbox::exec', { sandbox_id: id, cmd: 'true' })).toMatchObject({ code: 'S002' });
      expect(await failure('sandbox::status', { job_id: `job-${id}` })).toMatchObject({ code: 'S220' });
    }
    expect(await failure('sandbox::exec', { sandbox_id: '../evil', cmd: 'true' })).toMatchObject({ code: 'S001' });
    expect(asked).toHaveLength(before + 1);
  });
});
