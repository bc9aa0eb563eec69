/** A person approves and denies at the console the calls that the policy of an agent asks about. */
import { existsSync } from 'node:fs';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage } from '../support/console-page.ts';
import { httpTransport, openClient } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium();
const CONFIG = `
access:
  policies:
    asks:
      - { allow: {} }
      - { ask: { permission: fs.write }, reason: writes are reviewed }
  local: asks
workers: [{ name: coder }, { name: shell }, { name: agent }, { name: change }]
`;

describe.skipIf(why !== undefined)(`approval at the console${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let browser: Browser;
  beforeAll(async () => {
    dir = await tempDir({ 'cell.yaml': CONFIG, 'ws/a.txt': 'a\n' });
    const args = ['start', '--port', '0', '-c', dir.path('cell.yaml'), '--workspace', dir.path('ws')];
    [cell, browser] = await Promise.all([startCli(args), launchChromium()]);
  });
  afterAll(async () => {
    await browser?.close();
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  test('access.P7 a page under a policy shows nothing that waits before it has the key; then Approve and Deny answer', async () => {
    await using claude = await openClient(httpTransport(cell.http, ''), 'legacy', 'claude-code');
    const write = (path: string) =>
      claude.callTool({ name: 'write', arguments: { files: [{ path, content: 'a new line\n' }] } }).then(
        (reply) => JSON.stringify(reply.content),
        (error: unknown) => String(error),
      );
    const view = await openConsolePage(browser, cell.http, { width: 1280, height: 800 });
    await view.visit('');
    const panel = view.page.getByRole('region', { name: 'Waiting for your approval' });

    const approved = write('approved.txt');
    const key = view.page.getByLabel("Operator's key");
    const refused = view.page.getByRole('alert').filter({ hasText: "not the operator's key" });
    await key.fill('wco_guessed');
    expect(await refused.count()).toBe(0);
    await view.page.getByRole('button', { name: 'Use this key' }).click();
    await refused.waitFor();
    expect(await panel.count()).toBe(0);
    await key.fill((await runCli(['approvals', 'key', '-c', dir.path('cell.yaml')])).stdout.trim());
    await view.page.getByRole('button', { name: 'Use this key' }).click();
    await key.waitFor({ state: 'detached' });
    await panel.getByRole('link', { name: 'approved.txt' }).waitFor();
    await panel.getByText('writes are reviewed').waitFor();
    await panel.getByText('What it would do').click();
    const diff = panel.getByRole('article', { name: 'Change of approved.txt' });
    expect(await diff.getByText('a new line').innerText()).toBe('a new line');
    expect(existsSync(dir.path('ws/approved.txt'))).toBe(false);
    await panel.getByRole('button', { name: 'Approve' }).click();
    expect(await approved).toContain('approved.txt');
    expect(existsSync(dir.path('ws/approved.txt'))).toBe(true);

    const denied = write('denied.txt');
    await panel.getByRole('link', { name: 'denied.txt' }).waitFor();
    await panel.getByRole('button', { name: 'Deny' }).click();
    expect(await denied).toContain('was not approved');
    expect(existsSync(dir.path('ws/denied.txt'))).toBe(false);
    await panel.waitFor({ state: 'detached' });
    await view.close();
  });
});
