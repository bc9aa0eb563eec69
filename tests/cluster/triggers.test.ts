/** Triggers across nodes: a binding on another node needs that node to share its engine, and says so. */
import { expect, test } from 'vitest';

import type { CallError } from '#contract';
import { engineWorker } from '#engine';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown } from './support/nodes.ts';

const codeOf = (error: unknown) => (error as CallError).code;
const TYPE = 'engine::workers-available';

test.skipIf(NO_NATS)(
  'cluster.P29 a trigger is bound on another node that shares its engine; one that does not names the option (needs nats-server)',
  async () => {
    await using nats = await NatsServers.start();
    await using a = await startNode(nats.urls, 'a');
    await using closed = await startNode(nats.urls, 'closed');
    await using open = await startNode(nats.urls, 'open', { share: ['work', 'engine'] });
    await Promise.all([untilKnown(a, 'closed', 'open'), untilKnown(open, 'a')]);
    const events: unknown[] = [];
    await addWorker(a.engine, { 'seen::workers': (event) => void events.push(event) });
    const isKnown = () => open.bus.call('seen::workers', 'known').catch(() => {});
    await expect.poll(async () => (await isKnown(), events.length)).toBeGreaterThan(0);
    const before = events.length;

    const binding = { trigger_type: TYPE, function_id: 'seen::workers' };
    const bind = (namespace: string) => a.bus.call('engine::register_trigger', binding, { namespace });
    await expect(bind('closed')).rejects.toMatchObject({
      code: 'function_not_found',
      message:
        'Function engine::register_trigger not found in namespace closed. ' +
        'A node answers others only for what it shares: --share engine, if it has this function.',
    });
    expect(await bind('open')).toEqual({ id: expect.any(String) });
    await addWorker(closed.engine, { 'other::f': () => 1 });
    await addWorker(open.engine, { 'new::f': () => 1 });
    await expect
      .poll(() => events.slice(before))
      .toMatchObject([{ event: 'worker_connected' }, { event: 'worker_metadata_updated' }]);

    const onClosed = { ...binding, function_id: 'other::f', namespace: 'closed' };
    await closed.cluster.leave();
    const code = 'channel_send_failed';
    await expect.poll(() => a.bus.call('engine::register_trigger', onClosed).catch(codeOf)).toBe(code);
    expect(engineWorker.functions.find(({ id }) => id === 'engine::register_trigger')!.errors).toContain(code);
  },
);
