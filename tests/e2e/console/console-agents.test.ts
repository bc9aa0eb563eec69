/** The console as a person's seat beside two agents: their calls, how each went, and how to stop one. */
import { existsSync, readFileSync } from 'node:fs';

import type { Client } from '@modelcontextprotocol/client';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { isFull } from '../../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage, type ConsolePage } from '../support/console-page.ts';
import { httpTransport, openClient } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium();
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const TOKEN = 'a secret of this test';

describe.skipIf(why !== undefined)(`mcp.P14 the console beside agents${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let browser: Browser;
  let claude: Client & AsyncDisposable;
  let cursor: Client & AsyncDisposable;
  let view: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    dir = await tempDir({ 'ws/plan.md': 'one\ntwo\nthree\n', 'ws/old.txt': 'what it was\n' });
    cell = await startCli(start('0'));
    claude = await openClient(httpTransport(cell.http, ''), 'legacy', 'claude-code');
    cursor = await openClient(httpTransport(cell.http, ''), 'legacy', 'cursor');
    browser = await launchChromium();
    // Before any console is open.
    await run(claude, 'cat plan.md; exit 2');
    await tool(claude, 'edit', { edits: [{ path: 'plan.md', old: 'two\n', new: '2\n2b\n2c\n' }] });
    await tool(cursor, 'move', { moves: [{ from: 'old.txt' }] });
    await tool(cursor, 'read', { paths: ['../../etc/shadow'] });
  });
  afterAll(async () => {
    await browser?.close();
    await claude?.close();
    await cursor?.close();
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });
  const start = (port: string) => ['start', '--port', port, '--preset', 'open', '--workspace', dir.path('ws')];
  const show = async (hash: string, size = WIDE) => {
    view = await openConsolePage(browser, cell.http, size);
    page = view.page;
    await view.visit(hash);
  };
  beforeEach(() => {
    view = undefined as unknown as ConsolePage;
  });
  afterEach(() => view?.close());

  const tool = (client: Client, name: string, args: object) =>
    client.callTool({ name, arguments: { ...args } }).then(
      (reply) => JSON.stringify(reply.content),
      (error: unknown) => String(error),
    );
  const run = (client: Client, command: string, more: object = {}) => tool(client, 'run', { command, ...more });
  const part = (name: string | RegExp) => page.getByRole('region', { name, exact: true });
  const agent = (name: RegExp) => page.getByRole('article', { name });
  const rows = () => page.locator('tbody tr:not(.space):not([data-nested])');

  test('opened late, Home shows both agents, what they changed and what was refused', async () => {
    await show('');
    await agent(/^claude-code #\d+$/)
      .getByText('2 calls')
      .waitFor();
    await agent(/^cursor #\d+$/)
      .getByText('2 calls')
      .waitFor();
    const changed = part('Changed files');
    await changed.getByText('plan.md').waitFor();
    await expect
      .poll(() => changed.innerText())
      .toMatch(/old\.txt[^]*cursor #\d+[^]*−1[^]*deleted[^]*plan\.md[^]*claude-code #\d+[^]*\+3[^]*−1/);
    await expect.poll(() => part('Refused').innerText()).toMatch(/\.\.\/\.\.\/etc\/shadow\s+cursor #\d+ · agent::read/);
    expect(await part('Waiting for you').count()).toBe(0);
    await expect.poll(() => page.getByRole('link', { name: /^Changes/ }).innerText()).toMatch(/2/);
    expect(await page.locator('.rail-link').first().innerText()).toMatch(/^Home/);
    await view.shoot('home');

    await changed.getByRole('link', { name: 'old.txt' }).click();
    await page.getByText('Its last content:').waitFor();
    await page.getByText('what it was').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByRole('button', { name: /^Undo record/ }).click();
    await expect
      .poll(() => existsSync(dir.path('ws/old.txt')) && readFileSync(dir.path('ws/old.txt'), 'utf8'))
      .toBe('what it was\n');
    await page.reload();
    await page.getByRole('button', { name: 'Redo', exact: true }).first().waitFor();
  });

  test.runIf(isFull)(
    'rows have caller, line, lines changed and the true outcome; they are filtered and grouped by caller',
    async () => {
      await show('calls');
      const row = (text: string) => rows().filter({ hasText: text });
      await expect
        .poll(() => row('cat plan.md; exit 2').innerText())
        .toMatch(/claude-code #\d+\s+agent::run[^]*exit 2/);
      expect(await row('cat plan.md').locator('.badge').getAttribute('data-kind')).toBe('warning');
      await expect.poll(() => row('agent::edit').innerText()).toMatch(/plan\.md\s+\+3\s+−1\s+ok/);
      await expect.poll(() => row('etc/shadow').locator('.badge').getAttribute('data-kind')).toBe('refused');

      await page.getByLabel('Caller', { exact: true }).selectOption({ label: await labelOf(/^cursor/) });
      await expect
        .poll(() => rows().locator('.cell-caller').allInnerTexts())
        .toEqual(Array(2).fill(expect.stringMatching(/^cursor/)));
      await row('etc/shadow').click();
      const url = page.url();
      await page.reload();
      await page.getByRole('complementary', { name: 'Call' }).getByText('agent::read').waitFor();
      expect([page.url(), await rows().count()]).toEqual([url, 2]);
      await page.getByLabel('Caller', { exact: true }).selectOption({ label: 'All callers' });
      await page.getByLabel('by caller').check();
      await expect.poll(() => page.locator('.group-row').allInnerTexts()).toHaveLength(2);
      await page.getByLabel('Close').click();
      expect(await page.locator('.timeline').first().isVisible()).toBe(false);
      await page.setViewportSize({ width: 1700, height: 800 });
      expect(await page.locator('.timeline').first().isVisible()).toBe(true);
    },
  );

  const labelOf = async (name: RegExp) =>
    (await page.getByLabel('Caller', { exact: true }).locator('option').allInnerTexts()).find((text) =>
      name.test(text),
    )!;

  test('a running call is cancelled, by the keyboard alone, and its agent reads why', async () => {
    await show('home');
    const answer = run(claude, 'echo started; sleep 600; echo over', { timeout_s: 600 });
    const running = part('Running now');
    await running.getByText('sleep 600').first().waitFor();
    await running.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    // The answer that acts has the focus; Escape leaves without it.
    await page.getByRole('alertdialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('alertdialog').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await page.keyboard.press('Enter');
    expect(await answer).toMatch(/CANCELLED.*a person cancelled this call/);
    await expect.poll(() => running.innerText()).toContain('Nothing runs.');
  });

  test('a paused agent waits, the other continues; resumed, its calls run', async () => {
    await show('home');
    const paused = agent(/^claude-code/);
    await paused.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Pause it' }).click();
    await paused.getByText('paused').waitFor();
    const delayed = run(claude, 'echo later > later.txt; cat later.txt');
    await part('Waiting for you').getByText('echo later').waitFor();
    expect(await run(cursor, 'echo meanwhile')).toContain('meanwhile');
    expect(existsSync(dir.path('ws/later.txt'))).toBe(false);
    await view.shoot('home-paused');
    await paused.getByRole('button', { name: 'Resume' }).click();
    expect(await delayed).toContain('later');
    await expect.poll(() => part('Waiting for you').count()).toBe(0);
  });

  test('everything of one agent stops: its calls and its jobs, and nothing of the other', async () => {
    await show('home');
    const call = run(cursor, 'sleep 500', { timeout_s: 600 });
    await run(cursor, 'sleep 501', { background: true });
    await run(claude, 'sleep 502', { background: true });
    const running = part('Running now');
    for (const text of ['sleep 500', 'sleep 501', 'sleep 502']) await running.getByText(text).first().waitFor();
    await agent(/^cursor/)
      .getByRole('button', { name: 'Stop everything' })
      .click();
    await expect.poll(() => page.getByRole('alertdialog').innerText()).toMatch(/1 call, 2 jobs, 0 sandboxes/);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop everything' }).click();
    expect(await call).toContain('CANCELLED');
    await expect.poll(() => running.innerText()).not.toMatch(/sleep 50[01]/);
    expect(await running.innerText()).toContain('sleep 502');

    // Jobs: the command as its agent gave it, running first.
    await page.keyboard.press('4');
    const jobs = page.getByRole('region', { name: 'Jobs', exact: true });
    await expect
      .poll(() => jobs.locator('.row').first().innerText())
      .toMatch(/^sleep 502\s+running\s+claude-code #\d+/);
    await jobs.locator('.row').first().click();
    await page.getByRole('region', { name: 'Job', exact: true }).getByRole('button', { name: 'Kill' }).click();
    await page.getByRole('button', { name: 'Kill it' }).click();
    await expect.poll(() => jobs.locator('.row').first().innerText()).not.toMatch(/running/);
  });

  test.runIf(isFull)('on a phone a row has two lines and loses nothing, and an open item covers its list', async () => {
    await show('calls', PHONE);
    const row = rows().filter({ hasText: 'agent::edit' });
    await row.waitFor();
    for (const cell of ['time', 'caller', 'function', 'what', 'outcome', 'took']) {
      expect(await row.locator(`.cell-${cell}`).isVisible()).toBe(true);
    }
    expect((await row.boundingBox())!.height).toBe(46);
    await view.shoot('calls-phone');
    await view.visit('home');
    await agent(/^claude-code/).waitFor();
    await view.visit('changes');
    await page.getByRole('button', { name: /agent::edit/ }).click();
    await page.getByRole('heading', { name: 'agent::edit' }).waitFor();
    await page.getByRole('link', { name: '‹ Changes' }).click();
    await page.getByRole('button', { name: 'by file' }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(PHONE.width);
  });

  test.runIf(isFull)('forms that run or delete come empty and ask first', async () => {
    await show('functions/coder%3A%3Adelete-file');
    await page.getByRole('heading', { name: 'coder::delete-file' }).waitFor();
    expect(
      await page
        .locator('.run-form input[type=text], .run-form textarea')
        .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value).join('')),
    ).toBe('');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.getByLabel('Request as JSON').fill('{"paths":["plan.md"]}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('coder::delete-file will delete something. Do it?').waitFor();
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect(existsSync(dir.path('ws/plan.md'))).toBe(true);
    await view.visit('functions/shell%3A%3Aexec');
    await page.getByLabel('command', { exact: true }).fill('echo hi');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Yes, run it' }).click();
    await page.getByRole('region', { name: 'Result', exact: true }).getByText('hi').first().waitFor();
  });

  const PAGES = ['home', 'calls', 'changes', 'jobs', 'sandboxes', 'workspace', 'functions', 'workers'];
  const OPEN = ['changes/file%3Aplan.md', 'functions/coder%3A%3Asearch', 'workspace/plan.md'];
  const SEEN = isFull ? [...PAGES, ...OPEN] : ['home', 'changes/file%3Aplan.md', 'functions/coder%3A%3Asearch'];
  const SCHEMES = isFull ? (['light', 'dark'] as const) : (['dark'] as const);
  test.each(
    (isFull ? [WIDE, PHONE] : [PHONE]).flatMap((size) => SCHEMES.map((scheme) => [size.width, scheme, size] as const)),
  )('axe finds nothing serious at %i px, %s', async (_, colorScheme, size) => {
    await show('home', size);
    await page.emulateMedia({ colorScheme });
    const found: string[] = [];
    for (const name of SEEN) {
      await view.visit(name);
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${name.split('/')[0]}`, 'i'));
      await page.evaluate(axe.source);
      const results = await page.evaluate<{
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      }>("axe.run(document, { resultTypes: ['violations'] })");
      const serious = results.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      found.push(...serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`));
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(size.width);
    }
    expect(found).toEqual([]);
  });

  test.runIf(isFull)(
    'a wrong token is said; without an engine a bar is across the top, and the page comes back',
    async () => {
      const env = { WORKCELL_TOKEN: TOKEN };
      let locked = await startCli(start('0'), { env });
      const at = new URL(locked.http).port;
      const other = await browser.newPage({ viewport: WIDE });
      try {
        await other.goto(`${locked.http}/#/jobs`);
        await other.getByLabel('Token').fill('wrong');
        await other.getByRole('button', { name: 'Connect' }).click();
        await other.getByText('The engine refused that token.').waitFor();
        await other.getByLabel('Token').fill(TOKEN);
        await other.getByRole('button', { name: 'Connect' }).click();
        await other.getByText('No background jobs').waitFor();
        await other.reload();
        await other.getByText('No background jobs').waitFor();
        await locked[Symbol.asyncDispose]();
        const bar = other.getByText(/The engine does not answer since/);
        await bar.waitFor();
        expect(await bar.boundingBox()).toMatchObject({ x: 0, y: 0, width: WIDE.width });
        locked = await startCli(start(at), { env });
        await expect.poll(() => bar.count()).toBe(0);
      } finally {
        await other.close();
        await locked[Symbol.asyncDispose]();
      }
    },
  );
});
