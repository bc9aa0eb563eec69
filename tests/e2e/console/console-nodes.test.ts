/** The page Nodes, and the node of calls, sandboxes and jobs elsewhere, in a cluster of two. */
import { writeFileSync } from 'node:fs';

import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connect, type Connection } from '#client';
import { silentLog } from '#contract';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { NatsServers, NO_NATS } from '../../../src/testing/nats.ts';
import { IMAGE_PATIENCE_MS, sandboxConfig, whyNoSandbox } from '../../../src/testing/sandbox-cases.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage } from '../support/console-page.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium() ?? (NO_NATS ? 'needs nats-server' : undefined);
const whyNoMachine = why ?? (await whyNoSandbox(['python']));

interface Row {
  name: string;
  version: string;
  url: string;
  functions: number;
  sandboxes: { living: number; max: number; places: number; isolation: string };
}

describe.skipIf(why !== undefined)(`nodes at the console${why === undefined ? '' : ` (${why})`}`, () => {
  let nats: NatsServers;
  let dir: TempDir;
  let door: CliProcess;
  let host: CliProcess;
  let bus: Connection;
  let browser: Browser;
  beforeAll(async () => {
    [nats, dir] = await Promise.all([NatsServers.start(), tempDir({ 'ws/a.txt': 'a\n', 'door/b.txt': 'b\n' })]);
    const workers = [{ name: 'coder' }, { name: 'iii-sandbox', config: sandboxConfig() }];
    writeFileSync(dir.path('host.json'), JSON.stringify({ workers }));
    const start = (name: string, ...words: string[]) =>
      startCli(['start', '--port', '0', '--cluster', nats.urls[0]!, '--node', name, ...words]);
    [door, host, browser] = await Promise.all([
      start('door-1', '--workspace', dir.path('door')),
      start(
        ...['host-1', '--config', dir.path('host.json'), '--workspace', dir.path('ws'), '--share', 'coder,iii-sandbox'],
        ...['--label', 'zone=a', '--role', 'host'],
      ),
      launchChromium(),
    ]);
    bus = await connect(door.url, { name: 'tester', log: silentLog });
  });
  afterAll(async () => {
    await browser?.close();
    bus?.close();
    await Promise.all([door, host].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  test('cluster.P6 Nodes lists them with state and labels; calls have a node, and are filtered by it', async () => {
    const view = await openConsolePage(browser, door.http, { width: 1280, height: 800 });
    const { page } = view;
    await view.visit('nodes');
    const list = page.getByRole('region', { name: 'Nodes', exact: true });
    await expect.poll(() => list.locator('.row').allInnerTexts()).toHaveLength(2);
    await expect.poll(() => list.innerText()).toMatch(/door-1\s+up\s+this node[^]*host-1\s+up\s+heard/);
    await list.getByText('host-1').click();
    const card = page.getByRole('region', { name: 'Node', exact: true });
    await expect.poll(() => card.innerText()).toMatch(/labels\s+zone=a/);
    await view.shoot('nodes');

    const read = (namespace: string, path: string) =>
      fetch(`${door.http}/functions/coder/read-file?namespace=${namespace}`, {
        method: 'POST',
        body: JSON.stringify({ path }),
      }).then((response) => response.status);
    expect(await Promise.all([read('host-1', 'a.txt'), read('default', 'b.txt')])).toEqual([200, 200]);
    await card.getByRole('link', { name: 'calls' }).click();
    const ran = () => page.locator('tbody tr:not(.space) .cell-node').allInnerTexts();
    await expect.poll(ran).toEqual(['host-1']);
    await page.getByLabel('Node', { exact: true }).selectOption('door-1');
    await expect.poll(ran).toEqual(['door-1']);
    await page.getByLabel('Node', { exact: true }).selectOption('');
    await expect.poll(async () => (await ran()).toSorted()).toEqual(['door-1', 'host-1']);

    const found: string[] = [];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const name of ['nodes', 'nodes/host-1', 'calls', 'sandboxes', 'jobs']) {
        await view.visit(name);
        await expect.poll(() => page.title()).toMatch(new RegExp(`^${name.split('/')[0]}`, 'i'));
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<{ violations: { id: string; impact: string }[] }>(
          "axe.run(document, { resultTypes: ['violations'] })",
        );
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        found.push(...serious.map(({ id }) => `${name} at ${width}: ${id}`));
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
      }
    }
    expect(found).toEqual([]);
    await view.close();
  });

  test.skipIf(whyNoMachine !== undefined)(
    `cluster.P6 a node has its facts; Sandboxes and Jobs are filtered by node${whyNoMachine === undefined ? '' : ` (${whyNoMachine})`}`,
    { timeout: IMAGE_PATIENCE_MS },
    async () => {
      const call = async (id: string, payload: object) => (await bus.call(id, payload)) as Record<string, never>;
      const row = async () => {
        const { nodes } = (await bus.call('engine::nodes::list', {})) as { nodes: Row[] };
        return nodes.find(({ name }) => name === 'host-1');
      };
      await expect.poll(async () => (await row())?.sandboxes.places).toBeGreaterThan(0);
      const { sandbox_id } = await call('sandbox::create', { image: 'python', node: 'host-1' });
      // A call that runs there while the page is read.
      const running = bus.call('sandbox::exec', { sandbox_id, argv: ['sleep', '600'] }).catch(() => {});
      await Promise.all([
        call('sandbox::exec_bg', { sandbox_id, argv: ['sleep', '600'] }),
        call('shell::exec_bg', { command: 'ls' }),
      ]);
      await expect.poll(async () => (await row())?.sandboxes.living).toBe(1);
      const { version, url, functions, sandboxes } = (await row())!;

      const view = await openConsolePage(browser, door.http, { width: 1280, height: 800 });
      const { page } = view;
      await view.visit('nodes/host-1');
      const card = page.getByRole('region', { name: 'Node', exact: true });
      const facts = async () => {
        const [names, values] = await Promise.all([
          card.locator('dt').allInnerTexts(),
          card.locator('dd').allInnerTexts(),
        ]);
        return Object.fromEntries(names.map((name, at) => [name, values[at]]));
      };
      await expect.poll(facts).toEqual({
        'last heard': expect.stringMatching(/^heard (just now|.+ ago)$/),
        joined: expect.stringMatching(/^\d\d:\d\d:\d\d, .+ ago$/),
        version,
        roles: 'host',
        'also called': 'by no other name',
        labels: 'zone=a',
        address: url,
        functions: `${functions} for other nodes`,
        sandboxes: `1 of ${sandboxes.max} sandboxes, ${sandboxes.places} slots free`,
        isolation: sandboxes.isolation,
        calls: '1 sent to it, 0 received from it',
      });

      const shown = async (list: string, node: string) => {
        await page.getByLabel('Node', { exact: true }).selectOption(node);
        return page.getByRole('region', { name: list, exact: true }).locator('.row').allInnerTexts();
      };
      await card.getByRole('link', { name: 'sandboxes' }).click();
      const own = [expect.stringMatching(/python[^]*on host-1/)];
      await expect.poll(() => shown('Sandboxes', 'host-1')).toEqual(own);
      expect(await shown('Sandboxes', 'door-1')).toEqual([]);
      expect(await shown('Sandboxes', '')).toEqual(own);
      await view.visit('jobs');
      const [there, here] = [/^sleep 600[^]*on host-1/, /^ls[^]*on door-1/].map((text) => expect.stringMatching(text));
      await expect.poll(() => shown('Jobs', '')).toEqual([there, here]);
      expect(await shown('Jobs', 'host-1')).toEqual([there]);
      expect(await shown('Jobs', 'door-1')).toEqual([here]);
      await call('sandbox::stop', { sandbox_id, wait: true });
      await running;
      await view.close();
    },
  );

  test("cluster.P20 Drain asks for the operator's key; the node drains, and takes work again after Resume", async () => {
    const view = await openConsolePage(browser, door.http, { width: 1280, height: 800 });
    await view.visit('nodes/host-1');
    const card = view.page.getByRole('region', { name: 'Node', exact: true });
    const status = async () => (await fetch(`${host.http}/readyz`)).status;
    await card.getByRole('button', { name: 'Drain' }).click();
    await card.getByRole('button', { name: 'Drain it' }).click();
    await card.getByLabel("Operator's key").fill((await runCli(['approvals', 'key'])).stdout.trim());
    expect(await status()).toBe(200);
    await card.getByRole('button', { name: 'Drain with this key' }).click();
    await expect.poll(() => card.innerText()).toMatch(/host-1\s+draining/);
    expect(await status()).toBe(503);
    await card.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => card.innerText()).toMatch(/host-1\s+up/);
    expect(await status()).toBe(200);
    await view.close();
  });

  test('a banner says that this door is cut off', async () => {
    const view = await openConsolePage(browser, door.http, { width: 1280, height: 800 });
    await view.visit('nodes');
    await view.page.getByRole('region', { name: 'Nodes', exact: true }).getByText('host-1').waitFor();
    await nats.kill(0);
    await view.page.getByText('this door is cut off').waitFor();
    await view.close();
  });
});
