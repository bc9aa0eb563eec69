/** A person approves and denies at the console what the policy of an agent asks about. */
import { existsSync } from 'node:fs';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from './support/chromium.ts';
import { openConsolePage } from './support/console-page.ts';
import { httpTransport, openClient } from './support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium();
const CONFIG = `
access:
  policies:
    asks:
      - { allow: {} }
      - { ask: { permission: fs.write }, reason: writes are looked at }
  local: asks
workers: [{ name: coder }, { name: agent }]
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

  test('an agent waits for Approve and for Deny, and an approved call covers the calls made for it', async () => {
    await using claude = await openClient(httpTransport(cell.http, ''), 'legacy', 'claude-code');
    const write = (path: string) =>
      claude.callTool({ name: 'write', arguments: { files: [{ path, content: 'x' }] } }).then(
        (reply) => JSON.stringify(reply.content),
        (error: unknown) => String(error),
      );
    const view = await openConsolePage(browser, cell.http, { width: 1280, height: 800 });
    await view.visit('');
    const panel = view.page.getByRole('region', { name: 'Waiting for your approval' });

    const approved = write('approved.txt');
    await panel.getByRole('link', { name: 'approved.txt' }).waitFor();
    await panel.getByText('writes are looked at').waitFor();
    expect(existsSync(dir.path('ws/approved.txt'))).toBe(false);
    await panel.getByRole('button', { name: 'Approve' }).click();
    const key = panel.getByLabel("Operator's key");
    await key.fill('wco_guessed');
    await panel.getByRole('button', { name: 'Approve with this key' }).click();
    await expect.poll(() => key.inputValue()).toBe('wco_guessed');
    expect(existsSync(dir.path('ws/approved.txt'))).toBe(false);
    await key.fill((await runCli(['approvals', 'key', '-c', dir.path('cell.yaml')])).stdout.trim());
    await panel.getByRole('button', { name: 'Approve with this key' }).click();
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
