/** A call through two nodes is one trace, whichever collector each of them sends its spans to. */
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { runCli, startCli } from '../../src/testing/cli.ts';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { tempDir } from '../../src/testing/temp-dir.ts';
import { Collector } from '../e2e/support/collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe.skipIf(NO_NATS)('with a real NATS server (needs nats-server)', () => {
  test('access.P6 a call from one node that another serves is one trace at the collectors of both', async () => {
    await using dir = await tempDir({ 'a.txt': 'from the host', 'door/': '' });
    await using nats = await NatsServers.start();
    await using atDoor = await Collector.start();
    await using atHost = await Collector.start();
    const start = (collector: Collector, node: string, ...words: string[]) =>
      startCli(['start', '--port', '0', '--cluster', nats.urls[0]!, '--node', node, ...words], {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' },
      });
    await using door = await start(atDoor, 'door-1', '--workspace', dir.path('door'));
    await using host = await start(atHost, 'host-1', '--workspace', dir.root, '--share', 'coder');
    while (!(await runCli(['nodes', '--url', door.url])).stdout.includes('host-1')) await sleep(100);

    const response = await fetch(`${door.http}/functions/coder/read-file?namespace=host-1`, {
      method: 'POST',
      headers: { traceparent: `00-${TRACE}-${PARENT}-01` },
      body: JSON.stringify({ path: 'a.txt' }),
    });
    expect(await response.json()).toMatchObject({ content: 'from the host' });

    const spansIn = ({ spans }: Collector) => spans.filter(({ traceId }) => traceId === TRACE);
    await expect.poll(() => spansIn(atHost).length).toBe(1);
    await expect.poll(() => spansIn(atDoor).length).toBe(1);
    const [[here], [there]] = [spansIn(atDoor), spansIn(atHost)];
    expect(here).toMatchObject({ name: 'coder::read-file', parentSpanId: PARENT });
    expect(there).toMatchObject({ name: 'coder::read-file', parentSpanId: here!.spanId });
    expect(host.stderr).not.toContain('does not accept');
  });
});
