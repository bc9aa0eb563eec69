/** The page of a job in a real browser: output as it comes, a terminal to type into, and reloads that lose nothing. */
import { writeFileSync } from 'node:fs';

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { connect, type Connection } from '#client';
import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { isFull, rounds } from '../../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage, type ConsolePage } from '../support/console-page.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium();

describe.skipIf(why !== undefined)(`mcp.P4 jobs in the console${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let peer: Connection;
  let browser: Browser;
  let view: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    dir = await tempDir({ 'ws/note.txt': 'one\n' });
    const config = { allowlist: [], denylist_patterns: [], fs: { host_root: dir.path('ws') } };
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ workers: [{ name: 'shell', config }] }));
    cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
    peer = await connect(cell.url, { name: 'tester' });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    peer?.close();
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    view = await openConsolePage(browser, cell.http);
    page = view.page;
  });
  afterEach(() => view.close());

  const part = (name: string) => page.getByRole('region', { name, exact: true });
  const start = async (script: string, more: object = {}) =>
    ((await peer.call('shell::exec_bg', { command: 'sh', args: ['-c', script], ...more })) as { job_id: string })
      .job_id;
  const type = (job_id: string, text: string) => peer.call('shell::input', { job_id, text });
  const open = (job: string) => view.visit(`jobs/${job}`);
  const output = () => part('Output').locator('pre');
  /** The rows in view, without the spaces at their ends. */
  const screen = async () =>
    (await page.locator('.xterm-rows > div').allInnerTexts())
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd();
  const live = () => page.locator('.job-terminal[data-live]').waitFor();
  const terminal = { terminal: { cols: 80, rows: 24 } };

  test('jobs start, print and die', async () => {
    await view.visit('jobs');
    await page.getByText('No background jobs').waitFor();
    await page.getByLabel('Command to start').fill('sh -c "for i in 1 2 3; do echo line $i; done; sleep 600"');
    await page.keyboard.press('Enter');
    await part('Job').getByText('line 3').waitFor();
    await page.getByLabel('Command to start').fill('seq 3');
    await page.keyboard.press('Enter');
    await part('Job').getByText('finished').waitFor();
    await part('Jobs')
      .getByRole('button', { name: /^sh -c for i/ })
      .click();
    await part('Job').getByText('line 3').waitFor();
    await view.shoot('jobs');
    await part('Job').getByRole('button', { name: 'Kill', exact: true }).click();
    await page.getByRole('button', { name: 'Kill it' }).click();
    await part('Job').getByText('killed').waitFor();
  });

  test('live.D19 output comes as it is printed, standard error apart, and the end with its code', async () => {
    const job = await start('while read -r x; do echo "out $x"; echo "err $x" >&2; done; exit 3', { input: true });
    await open(job);
    const line = page.getByLabel('Line for its input');
    for (const text of ['one', 'two']) {
      await line.fill(text);
      await line.press('Enter');
      await expect.poll(() => output().innerText()).toContain(`err ${text}\n`);
    }
    expect(await output().locator('[data-stream=stderr]').allInnerTexts()).toEqual(['err one\n', 'err two\n']);
    await part('Output').getByRole('button', { name: 'stderr' }).click();
    expect(await output().innerText()).toBe('err one\nerr two\n');
    await part('Job').getByText('still running').waitFor();
    await page.getByRole('button', { name: 'End input' }).click();
    await part('Job').locator('.badge', { hasText: 'exit 3' }).waitFor();
    await expect.poll(() => part('Job').locator('.facts').innerText()).toMatch(/exit code\s+3/);
    expect(await page.getByRole('button', { name: 'Kill', exact: true }).count()).toBe(0);
  });

  test.runIf(isFull)(
    'live.D19 Stop asks the job to end, a signal reaches it, and an unknown job is reported',
    async () => {
      const job = await start(
        `trap 'echo hup' HUP; trap 'echo over; exit 0' TERM; echo up; while :; do sleep 0.05; done`,
      );
      await open(job);
      await expect.poll(() => output().innerText()).toContain('up');
      await page.getByLabel('Send a signal').selectOption('HUP');
      await expect.poll(() => output().innerText()).toContain('hup');
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Stop it' }).click();
      await part('Job').getByText('finished').waitFor();
      expect(await output().innerText()).toMatch(/^up\n[^]*hup\n[^]*over\n$/);
      await open('job-00000000-0000-4000-8000-000000000000');
      await part('Job').getByText('no such job').waitFor();
    },
  );

  test.runIf(isFull)(
    'live.D19 a long output is followed to its last line, and the page says what it missed',
    async () => {
      const lines = rounds(20_000, 200_000, 200_000);
      const ring_bytes = 100_000;
      const job = await start(`echo begun; read go; seq 1 ${lines}; read end; echo "the end"`, {
        input: true,
        ring_bytes,
      });
      await open(job);
      await expect.poll(() => output().innerText()).toBe('begun\n');
      await type(job, '\n');
      // The last line is in view without scrolling.
      const isAtEnd = () => output().evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2);
      await expect
        .poll(
          () =>
            output()
              .innerText()
              .then((text) => text.endsWith(`\n${lines}\n`)),
          { timeout: 30_000 },
        )
        .toBe(true);
      await expect.poll(isAtEnd).toBe(true);
      await output().evaluate((box) => box.scrollTo(0, 0));
      await type(job, '\n');
      await part('Job').getByText('finished').waitFor();
      // A reader that went up is left there.
      expect(await isAtEnd()).toBe(false);

      const all = Buffer.byteLength(
        `begun\n${Array.from({ length: lines }, (_, n) => `${n + 1}\n`).join('')}the end\n`,
      );
      await page.reload();
      await expect.poll(() => output().innerText()).toMatch(/the end\n$/);
      const text = await output().innerText();
      const kept = text.slice(text.indexOf('here …\n') + 7);
      expect(Buffer.byteLength(kept)).toBe(ring_bytes);
      const lost = (all - ring_bytes).toLocaleString('en');
      expect(text).toContain(`${lost} bytes were lost here`);
      await part('Job').getByText(`${lost} bytes of output are lost`).waitFor();
      await view.shoot('job-output');
    },
  );

  test('live.D20 a terminal is started, typed into, resized, and survives a reload', async () => {
    await view.visit('jobs');
    await page.getByLabel('Command to start').fill('bash --norc --noprofile -i');
    await page.getByLabel('terminal').check();
    await page.getByLabel('Command to start').press('Enter');
    await live();
    await expect.poll(screen).toMatch(/[$#]$/);
    await page.keyboard.type('echo $((6 * 7)); tty; stty size\n');
    await expect.poll(screen).toMatch(/\n42\n\/dev\/pts\/\d+\n\d+ \d+\n/);
    const sizes = async () =>
      [...(await screen()).matchAll(/^(\d+) (\d+)$/gm)].map(([, rows, cols]) => [Number(rows), Number(cols)]);
    const [[rows, cols] = []] = await sizes();
    expect(await page.locator('.xterm-rows > div').count()).toBe(rows);
    await page.setViewportSize({ width: 1000, height: 600 });
    await expect.poll(() => page.locator('.xterm-rows > div').count()).toBeLessThan(rows!);
    await page.keyboard.type('stty size\n');
    await expect.poll(async () => (await sizes()).length).toBe(2);
    const [, [newRows, newCols] = []] = await sizes();
    expect(newRows).toBe(await page.locator('.xterm-rows > div').count());
    expect(newCols).toBeLessThan(cols!);

    // Its output, the input before the reload, and the input after it.
    await page.keyboard.type('echo before');
    await expect.poll(screen).toMatch(/echo before$/);
    const seen = await screen();
    const url = page.url();
    await page.reload();
    expect(page.url()).toBe(url);
    await live();
    await expect.poll(screen).toBe(seen);
    await page.keyboard.type(' and after\n');
    await expect.poll(screen).toContain('\nbefore and after\n');
    await view.shoot('job-terminal');

    // The program prints that it runs: a key that comes while bash starts it may interrupt nothing.
    await page.keyboard.type("sh -c 'echo up; exec sleep 1000'\n");
    await expect.poll(screen).toMatch(/\nup$/);
    await page.keyboard.press('Control+c');
    await expect.poll(screen).toMatch(/\^C\n.*[$#]$/);
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate<boolean>('document.activeElement === document.body')).toBe(true);
    await page.locator('.xterm-screen').click();
    await page.keyboard.type('exit 5\n');
    await part('Job').locator('.badge', { hasText: 'exit 5' }).waitFor();
    await expect.poll(() => part('Job').locator('.facts').innerText()).toMatch(/exit code\s+5/);
  });

  test.runIf(isFull)('live.D20 nothing is missing after reloads in the middle of the output', async () => {
    const count = rounds(3000, 9000, 9000);
    const job = await start(`stty -echo; read go; seq 1 ${count}; read go; echo over`, {
      ...terminal,
      ring_bytes: 2 ** 20,
    });
    await page.setViewportSize({ width: 1000, height: 2400 });
    await open(job);
    await live();
    await page.keyboard.press('Enter');
    for (let round = 0; round < 3; round++) await page.reload();
    await expect.poll(screen).toMatch(new RegExp(`\n${count}$`));
    // Every line, from the screen up through the scrollback.
    const seen = new Set<string>();
    const firstRow = async () => {
      const rows = (await screen()).split('\n');
      for (const row of rows) seen.add(row);
      return rows[0];
    };
    for (let top = await firstRow(); top !== '1';) {
      const before = top;
      await page.keyboard.press('Shift+PageUp');
      await expect.poll(async () => (top = await firstRow()), { interval: 5 }).not.toBe(before);
    }
    expect(Array.from({ length: count }, (_, n) => String(n + 1)).filter((line) => !seen.has(line))).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(screen).toMatch(/\nover$/);
  });

  test.runIf(isFull)('live.D20 what a program asked of an earlier terminal is not answered again', async () => {
    // It asks where the cursor is, and prints the input until a line ends.
    const job = await start(
      `stty -echo; printf 'where\\033[6n\\n'; IFS= read -r x; printf %s "$x" | od -An -c; read y`,
      terminal,
    );
    await peer.call('shell::output', { job_id: job, until: { pattern: 'where' } });
    await open(job);
    await live();
    await expect.poll(screen).toContain('where');
    await page.reload();
    await live();
    await expect.poll(screen).toContain('where');
    await page.keyboard.type('typed\n');
    await expect.poll(screen).toMatch(/t\s+y\s+p\s+e\s+d$/);
    expect(await screen()).not.toContain('033');
    await peer.call('shell::kill', { job_id: job });

    // The same program, started by this page: its terminal answers.
    await view.visit('jobs');
    const script = `stty -echo; printf 'where\\033[6n\\n'; IFS= read -r x; printf %s "$x" | od -An -c; read y`;
    await page.getByLabel('Command to start').fill(`sh -c ${JSON.stringify(script).replaceAll('$', '\\$')}`);
    await page.getByLabel('terminal').check();
    await page.getByLabel('Command to start').press('Enter');
    await live();
    await expect.poll(screen).toContain('where');
    await page.keyboard.type('typed\n');
    await expect.poll(screen).toMatch(/033\s+\[\s+1\s+;\s+6\s+R\s+t\s+y\s+p\s+e\s+d$/);
  });

  test.runIf(isFull)(
    'live.D20 colours of programs are shown under the strict policy, light and dark, and stay readable',
    async () => {
      const job = await start(`printf '\\033[38;2;250;250;200mtrue\\033[0m \\033[31mred\\033[0m\\n'; read x`, terminal);
      await open(job);
      await live();
      await expect.poll(screen).toBe('true red');
      const colourOf = (text: string) =>
        page
          .locator('.xterm-rows span', { hasText: text })
          .evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).color);
      const back = () =>
        page
          .locator('.xterm-viewport, .xterm-scrollable-element')
          .last()
          .evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).backgroundColor);
      await expect.poll(back).toBe('rgb(255, 255, 255)');
      expect(await colourOf('red')).toBe('rgb(166, 47, 40)');
      // Too pale to read on white, so it is not the colour that the program asked for.
      expect(await colourOf('true')).not.toBe('rgb(250, 250, 200)');
      await view.shoot('job-terminal-light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(back).toBe('rgb(16, 18, 20)');
      await expect.poll(() => colourOf('true')).toBe('rgb(250, 250, 200)');
      await view.shoot('job-terminal-dark');
      await page.getByRole('button', { name: 'Theme: system' }).click();
      await expect.poll(back).toBe('rgb(255, 255, 255)');
      await page.setViewportSize({ width: 390, height: 760 });
      await view.shoot('job-terminal-narrow');
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
    },
  );

  test.runIf(isFull)('live.D20 a page without a terminal does not load one', async () => {
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
    await open(await start('echo plain'));
    await expect.poll(() => output().innerText()).toBe('plain\n');
    expect(scripts.filter((path) => path.includes('screen'))).toEqual([]);
  });
});
