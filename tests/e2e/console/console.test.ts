/** The console in a real browser: each page once, used as a person would. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';

import { connect, type Connection } from '#client';
import { defineErrors, defineWorker } from '#contract';
import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { isFull } from '../../../src/testing/rounds.ts';
import { IMAGE_PATIENCE_MS, sandboxConfig, whyNoSandbox } from '../../../src/testing/sandbox-cases.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage, PATIENCE_MS, SCREENSHOTS, type ConsolePage } from '../support/console-page.ts';
import { web } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: IMAGE_PATIENCE_MS });

const why = whyNoChromium();
const whyNoMachine = why === undefined ? await whyNoSandbox(['python']) : why;

const errors = defineErrors({
  G1: { meaning: 'It was too quiet.', http: 409, message: (_: object) => 'too quiet', fix: () => ({ loud: true }) },
});
const greeter = defineWorker({
  name: 'greeter',
  summary: 'Greets.',
  config: z.object({}),
  errors,
  failures: {
    badInput: () => errors.fail('G1', {}),
    internal: () => errors.fail('G1', {}),
    deadline: () => errors.fail('G1', {}),
  },
  open: () => ({}),
});
const greet = greeter.defineFunction({
  id: 'greeter::greet',
  summary: 'Say hello, loud enough.',
  effect: 'write',
  permissions: [],
  request: z.object({ name: z.string().describe('The name to greet.'), loud: z.boolean().default(false) }),
  response: z.object({ said: z.string() }),
  errors: ['G1'],
  examples: [{ name: 'Ada' }],
  handle: ({ name, loud }) => {
    if (!loud) throw errors.fail('G1', {});
    return { said: `HELLO ${name.toUpperCase()}` };
  },
});

/** How many pages record payloads, asked by another page that does not. */
async function countWatchers(origin: string): Promise<number> {
  const socket = new WebSocket(origin.replace(/^http/, 'ws'), { origin });
  const answered = new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (text: Buffer) => {
      const { type, result } = JSON.parse(text.toString()) as { type: string; result?: { watchers: number } };
      if (type === 'invocationresult') resolve(result!.watchers);
    });
  });
  const ask = {
    type: 'invokefunction',
    invocation_id: 'ask',
    function_id: 'engine::calls::watch',
    data: { on: false },
  };
  socket.on('open', () => socket.send(JSON.stringify(ask)));
  try {
    return await answered;
  } finally {
    socket.close();
  }
}

/** Number, sign and text of each line, between bars. */
async function diffLines(card: Locator): Promise<string[]> {
  const texts = await card.locator('.diff-line').allInnerTexts();
  return texts.map((line) => line.replaceAll(/\s*\n\s*/g, '|').replace(/\|$/, ''));
}

const files = {
  'ws/README.md': '# Rover\n\nDrives on its own. TODO: brakes.\n',
  'ws/src/main.py': 'import time\n\ndef drive():\n    # TODO: look ahead\n    time.sleep(1)\n',
  'ws/src/stop.py': 'def stop():\n    # now\n    wait(1)\n    return True\n',
  'ws/src/wheels/axle.py': `${Array.from({ length: 60 }, (_, at) => `turn_${at} = ${at}`).join('\n')}\n# todo: oil\n`,
};

describe.skipIf(why !== undefined)(`mcp.P4 the console${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let peer: Connection;
  let browser: Browser;
  let view: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    dir = await tempDir(files);
    const workers = [
      { name: 'coder', config: { base_path: dir.path('ws') } },
      { name: 'shell', config: { allowlist: ['sh', 'sleep', 'seq'], fs: { host_root: dir.path('ws') } } },
      { name: 'filesystem', config: { paths: [dir.path('ws')] } },
      { name: 'iii-sandbox', config: sandboxConfig() },
    ];
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ state_dir: dir.path('state'), workers }));
    cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
    peer = await connect(cell.url, { name: 'greeter', description: 'A worker in another process.' });
    peer.serve({ def: greeter.withFunctions([greet]), context: {} });
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

  const visit = (hash: string) => view.visit(hash);
  const shoot = (name: string) => view.shoot(name);
  const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const watchers = () => countWatchers(cell.http);
  const part = (name: string) => page.getByRole('region', { name, exact: true });

  test('the page and its parts come with strict headers, and nothing else is under /console', async () => {
    const { status, headers, body } = await web(`${cell.http}/`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    const [, script = ''] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(String(body)) ?? [];
    expect((await web(cell.http + script)).headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect((await web(`${cell.http}/console/../package.json`)).status).toBe(404);
    const loaded = page.waitForResponse(cell.http + script);
    await visit('functions');
    await shows('Pick a function');
    expect((await (await loaded).allHeaders())['content-encoding']).toBe('gzip');
  });

  test('functions: search, run, see the result', async () => {
    await visit('functions');
    await page.getByRole('button', { name: 'coder::read-file' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('coder search');
    await page.keyboard.press('Enter');
    await page.getByLabel('query', { exact: true }).fill('TODO');
    await page.getByRole('button', { name: 'optional fields' }).click();
    await page.getByLabel('ignore_case').selectOption('true');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await part('Result').getByText('"# todo: oil"').waitFor();
    await shoot('functions');
  });

  test('functions: a worker in another process is there, and its fix runs with one click', async () => {
    await visit('functions/greeter%3A%3Agreet');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await part('Failure').getByText('too quiet').waitFor();
    await shoot('functions-failure');
    await page.getByRole('button', { name: 'Apply the fix and run again' }).click();
    await part('Result').getByText('"HELLO ADA"').waitFor();
    expect(await page.getByLabel('loud').inputValue()).toBe('true');
  });

  test.runIf(isFull)('functions: the form and its JSON are two views of one request', async () => {
    await visit('functions/coder%3A%3Aupdate-file');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const raw = page.getByLabel('Request as JSON');
    await raw.fill('{"files":[{"path":"a.txt","ops":[{"op":"insert","at_line":1,"content":"x"}]}]}');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    expect(await page.getByLabel('path', { exact: true }).inputValue()).toBe('a.txt');
    await shoot('functions-nested');
    await page.getByLabel('path', { exact: true }).fill('b.txt');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    expect(JSON.parse(await raw.inputValue())).toEqual({
      files: [{ path: 'b.txt', ops: [{ op: 'insert', at_line: 1, content: 'x' }] }],
    });
  });

  test.runIf(isFull)('functions: j, k, Enter and Esc', async () => {
    await visit('functions');
    await page.getByRole('button', { name: 'coder::create-file' }).waitFor();
    for (const key of ['j', 'j', 'j', 'k', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'coder::checkpoint', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await shows('Pick a function');
    await page.keyboard.press('8');
    await page.waitForURL(/#\/workers$/);
  });

  test('calls appear as they happen and can be filtered', async () => {
    await visit('calls');
    await shows('No calls yet');
    const call = (id: string, payload: object) => peer.call(id, payload).catch(() => {});
    for (let round = 0; round < 8; round += 1) {
      await call('coder::tree', {});
      await call('shell::exec', { command: `sleep 0.${round}` });
      await call('coder::search', { query: 'TODO' });
      await call('coder::read-file', { path: round % 3 === 0 ? 'missing' : 'README.md' });
    }
    void call('shell::exec', { command: 'sleep 5' });
    await page.getByRole('cell', { name: 'C211' }).first().waitFor();
    await page.getByRole('cell', { name: 'running' }).waitFor();
    await shoot('calls');
    await page.getByLabel('Filter calls').fill('read-file c211');
    await expect.poll(() => page.getByRole('cell', { name: 'coder::read-file' }).count()).toBe(3);
    expect(await page.getByRole('cell', { name: 'shell::exec' }).count()).toBe(0);
    await page.getByRole('cell', { name: 'coder::read-file' }).first().click();
    const card = page.getByRole('complementary', { name: 'Call' });
    await card.getByText('missing does not exist or is protected').waitFor();
    await card.getByText('"missing"').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect.poll(() => card.count()).toBe(0);
  });

  test('calls: what an agent changed is a diff, and the request can be made again from its form', async () => {
    await visit('calls');
    await page.getByLabel('keep payloads').waitFor();
    await expect.poll(watchers).toBe(1);
    const edit = { path: 'src/stop.py', old_string: '    wait(1)\n', new_string: '    wait(2)\n    look()\n' };
    await peer.call('coder::tree', {});
    await peer.call('filesystem::edit', edit);
    await peer.call('coder::update-file', {
      files: [{ path: 'README.md', ops: [{ op: 'update_lines', from_line: 1, to_line: 1, content: '# Rover 2' }] }],
    });

    const card = page.getByRole('complementary', { name: 'Call' });
    const lines = () => diffLines(card);
    await page.getByLabel('changes only').check();
    await page.getByRole('cell', { name: 'coder::update-file' }).click();
    await expect.poll(lines).toEqual(['−|# Rover', '1|+|# Rover 2', '2', '3|Drives on its own. TODO: brakes.']);
    await page.getByRole('cell', { name: 'filesystem::edit' }).click();
    await expect
      .poll(lines)
      .toEqual(['1|def stop():', '2|# now', '−|wait(1)', '3|+|wait(2)', '4|+|look()', '5|return True']);
    await shoot('call-diff');
    expect(await page.getByRole('cell', { name: 'coder::tree' }).count()).toBe(0);

    await card.getByRole('button', { name: 'Open in the form' }).click();
    await page.getByRole('heading', { name: 'filesystem::edit' }).waitFor();
    expect(await page.getByLabel('old_string').inputValue()).toBe(edit.old_string);
  });

  test('calls: secrets are masked, and nothing is kept when no page records', async () => {
    await visit('calls');
    await expect.poll(watchers).toBe(1);
    await peer.call('greeter::greet', { name: 'Ada', loud: true, token: 'hush' });
    await page.getByRole('cell', { name: 'greeter::greet' }).first().click();
    const card = page.getByRole('complementary', { name: 'Call' });
    await card.getByText('"•••"').waitFor();
    await card.getByText('"HELLO ADA"').waitFor();
    await shoot('call');
    expect(await page.content()).not.toContain('hush');

    await page.getByLabel('keep payloads').uncheck();
    await expect.poll(watchers).toBe(0);
    await page.reload();
    await page.getByRole('cell', { name: 'greeter::greet' }).first().click();
    await card.getByText('Payloads are not kept while the box above is off.').waitFor();
    await card.getByRole('button', { name: 'Keep payloads from now on' }).click();
    await expect.poll(watchers).toBe(1);
  });

  test.runIf(isFull)(
    'calls: of two workers with the same functions, the form of the one that was called opens',
    async () => {
      const twin = await connect(cell.url, { name: 'greeter', namespace: 'lab' });
      try {
        twin.serve({ def: greeter.withFunctions([greet]), context: {} });
        await visit('calls');
        await expect.poll(watchers).toBe(1);
        const greeting = () => peer.call('greeter::greet', { name: 'Bo', loud: true }, { namespace: 'lab' });
        await expect.poll(() => greeting().catch(() => undefined)).toEqual({ said: 'HELLO BO' });
        await page.getByRole('cell', { name: 'lab/greeter::greet' }).first().click();
        const card = page.getByRole('complementary', { name: 'Call' });
        await card.getByRole('button', { name: 'Open in the form' }).click();
        await part('Function').getByText('namespace lab').waitFor();
        expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Bo');
      } finally {
        twin.close();
      }
    },
  );

  test.runIf(isFull)('calls: a call in the timeline opens, and a long list makes only the rows in view', async () => {
    await visit('calls');
    await page.getByLabel('Filter calls').fill('list-folder');
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 90 }, () => peer.call('coder::list-folder', { path: '.' })));
    }
    await expect.poll(() => page.locator('.figures').innerText()).toContain('900 calls');
    expect(await page.locator('tbody tr').count()).toBeLessThan(100);
    const firstSeen = () => page.locator('tbody tr:not(.space) td:first-child').first().innerText();
    const newest = await firstSeen();
    await page.locator('.calls-body .scroll').evaluate((box) => box.scrollTo(0, 15_000));
    await expect.poll(firstSeen).not.toBe(newest);
    await page.locator('.flame-bar').last().click();
    await page.getByRole('complementary', { name: 'Call' }).getByText('coder::list-folder').waitFor();
    await shoot('calls-many');

    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const inView = () => page.locator('tr[data-cursor]').evaluateAll((rows) => rows.length);
    for (const key of ['j', 'j', 'k']) await page.keyboard.press(key);
    await expect.poll(inView).toBe(1);
    await expect.poll(firstSeen).toBe(newest);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Call' }).waitFor();
  });

  test('workers show what they serve', async () => {
    await visit('workers');
    await page.getByRole('button', { name: /^greeter/ }).click();
    await shows('A worker in another process.');
    await shoot('workers');
    await page.getByRole('link', { name: 'greeter::greet' }).click();
    await page.getByRole('heading', { name: 'greeter::greet' }).waitFor();
  });

  test.skipIf(whyNoMachine !== undefined)(
    `sandboxes are made, used and stopped${whyNoMachine === undefined ? '' : ` (${whyNoMachine})`}`,
    async () => {
      await visit('sandboxes');
      await shows('No sandboxes');
      await page.getByLabel('Image').selectOption('python');
      await page.getByRole('button', { name: 'Create' }).click();
      const line = page.getByLabel('Command in the sandbox');
      await line.fill('echo $((6 * 7)) > /tmp/answer; cat /tmp/answer');
      await line.press('Enter');
      await part('Commands').getByText('42', { exact: true }).waitFor();
      await part('Files').getByRole('button', { name: 'tmp/', exact: true }).click();
      await part('Files').getByRole('button', { name: 'answer' }).click();
      await part('Files').getByText('42', { exact: true }).waitFor();
      await shows('namespaces');
      await shoot('sandboxes');
      const facts = part('Sandbox').locator('.facts').first();
      await expect.poll(() => facts.innerText()).toMatch(/created by\s+console[^]*idle[^]*memory\s+[\d.]+ \w+ of /);
      expect(await facts.innerText()).toMatch(/processors\s+[\d.]+ of \d/);
      await part('Jobs of the sandbox').getByRole('button', { name: 'Open a terminal' }).click();
      await page.locator('.job-terminal[data-live]').waitFor();
      await page.keyboard.type('echo $((6 * 8)); hostname\n');
      await expect.poll(() => page.locator('.xterm-rows').innerText()).toContain('48');
      await shoot('sandbox-terminal');
      // A link to it survives a reload, with its job.
      await page.reload();
      await part('Jobs of the sandbox')
        .getByText(/exec bash/)
        .waitFor();
      await part('Sandbox').getByRole('button', { name: 'Stop', exact: true }).first().click();
      await page.getByRole('button', { name: 'Stop it' }).click();
      await shows(/^Sandbox \w{8} has ended$/);
    },
  );

  test('the workspace: tree, file, search', async () => {
    await visit('workspace');
    await page.getByRole('button', { name: /src$/ }).click();
    await page.getByRole('button', { name: /main\.py/ }).click();
    await part('File').getByText('time.sleep(1)').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('todo');
    await page.getByRole('button', { name: /61 .*todo/ }).click();
    await expect.poll(() => page.locator('[data-marked] .number').textContent()).toBe('61');
    await expect.poll(() => page.locator('.hits mark').allTextContents()).toEqual(['TODO', 'TODO', 'todo']);
    await page.getByLabel('Search the workspace').fill('(?:[a-z]+)+(?: |\\.)oil|slee[p]');
    await page.getByLabel('regex').check();
    await expect.poll(() => page.locator('.hits mark').allTextContents()).toEqual(['sleep']);
    await shoot('workspace');
  });

  test('changes: each record with its lines; undo and redo change the file on disk', async () => {
    await visit('changes');
    const list = part('Changes');
    const card = part('Change');
    const lines = () => diffLines(card);
    const [undo, redo] = ['Undo', 'Redo'].map((name) => card.getByRole('button', { name, exact: true })) as [
      Locator,
      Locator,
    ];
    const onDisk = () => readFileSync(dir.path('ws/brakes.md'), 'utf8');
    const replace = (pattern: string, replacement: string) => ({
      files: [{ path: 'brakes.md', ops: [{ op: 'replace', pattern, replacement }] }],
    });
    await page.getByRole('heading', { name: /Pick a change|No changes yet/ }).waitFor();
    await peer.call('coder::create-file', { files: [{ path: 'brakes.md', content: 'one\ntwo\nthree\nfour\nfive\n' }] });
    await peer.call('coder::update-file', replace('two', '2'));

    const rows = list.getByRole('button').filter({ hasText: 'brakes.md' });
    await expect
      .poll(async () => (await rows.allInnerTexts()).map((text) => text.split(/\s+/)[0]))
      .toEqual(['coder::update-file', 'coder::create-file']);
    expect(await rows.first().innerText()).toMatch(/\bgreeter\b[^]*brakes\.md\s+\+1\s+−1/);
    await rows.last().click();
    await expect.poll(lines).toEqual(['1|+|one', '2|+|two', '3|+|three', '4|+|four', '5|+|five']);
    await rows.first().click();
    const edited = ['1|one', '−|two', '2|+|2', '3|three', '4|four', '5|five'];
    await expect.poll(lines).toEqual(edited);

    await undo.click();
    await expect
      .poll(() => part('Confirmation').innerText())
      .toMatch(/greeter made it; the console may undo .* every caller[^]*modified brakes\.md/);
    await shoot('changes');
    expect(onDisk()).toContain('\n2\n');
    await card.getByRole('button', { name: /^Undo record/ }).click();
    await expect.poll(onDisk).toBe('one\ntwo\nthree\nfour\nfive\n');
    await redo.waitFor();
    await page.reload();
    await redo.click();
    await expect.poll(lines).toEqual(edited);
    await card.getByRole('button', { name: /^Redo record/ }).click();
    await expect.poll(onDisk).toBe('one\n2\nthree\nfour\nfive\n');

    // In other lines, both changes survive; in the same lines, nothing changes.
    await peer.call('coder::update-file', replace('three', '3'));
    await expect.poll(() => rows.count()).toBe(5);
    await rows.first().click();
    await expect.poll(lines).toContain('3|+|3');
    writeFileSync(dir.path('ws/brakes.md'), 'one\n2\n3\nfour\nby hand\n');
    await undo.click();
    await card.getByText('brakes.md can be merged').waitFor();
    expect(onDisk()).toBe('one\n2\n3\nfour\nby hand\n');
    await card.getByRole('button', { name: 'Undo and merge' }).click();
    await expect.poll(onDisk).toBe('one\n2\nthree\nfour\nby hand\n');
    await redo.waitFor();
    writeFileSync(dir.path('ws/brakes.md'), 'one\nboth\n');
    await redo.click();
    await card.getByText('brakes.md cannot be merged').waitFor();
    expect(await card.getByRole('button', { name: 'Redo and merge' }).count()).toBe(0);
    expect(onDisk()).toBe('one\nboth\n');
    await page.setViewportSize({ width: 390, height: 760 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot('changes-narrow');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
  });

  test.runIf(isFull)('changes: a record without its former content says that it cannot be undone', async () => {
    await peer.call('coder::create-file', { files: [{ path: 'lost.md', content: 'first\n' }] });
    await peer.call('coder::update-file', {
      files: [{ path: 'lost.md', ops: [{ op: 'replace', pattern: 'first', replacement: 'second' }] }],
    });
    await visit('changes');
    await part('Changes').getByRole('button').filter({ hasText: 'lost.md' }).first().click();
    const [journal] = readdirSync(dir.path('state/journal'));
    rmSync(dir.path(`state/journal/${journal}/images`), { recursive: true });
    mkdirSync(dir.path(`state/journal/${journal}/images`));
    await part('Change').getByRole('button', { name: 'Undo' }).click();
    await part('Change').getByText('It cannot be undone').waitFor();
    await part('Change').getByRole('alert').getByText('lost.md is no longer in the journal').waitFor();
    expect(readFileSync(dir.path('ws/lost.md'), 'utf8')).toBe('second\n');
    await visit('changes/100000');
    await shows('100000 is not in the journal any more');
  });

  test.runIf(isFull)('changes: records are not listed again for calls that change no file', async () => {
    const sent: unknown[] = [];
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)).function_id)),
    );
    const count = (id: string) => sent.filter((one) => one === id).length;
    await peer.call('coder::create-file', { files: [{ path: 'last.md', content: 'x\n' }] });
    await visit('changes');
    await part('Changes').getByText('last.md').waitFor();
    const [looks, lists] = [count('engine::calls::list'), count('coder::checkpoints')];
    const look = () => peer.call('coder::tree', {}).then(() => count('engine::calls::list'));
    await expect.poll(look, { timeout: PATIENCE_MS }).toBeGreaterThan(looks + 3);
    expect(count('coder::checkpoints')).toBe(lists);
  });

  test.runIf(isFull)('an engine that wants a token is asked for it, once a tab', async () => {
    await visit('functions');
    await using locked = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')], {
      env: { WORKCELL_TOKEN: 'öpen sésame' },
    });
    const tab = await browser.newPage({ viewport: { width: 1360, height: 820 } });
    tab.setDefaultTimeout(PATIENCE_MS);
    await tab.goto(`${locked.http}/#/functions`);
    await tab.getByLabel('Token').fill('wrong');
    await tab.getByRole('button', { name: 'Connect' }).click();
    await tab.getByLabel('Token').fill('öpen sésame');
    await tab.screenshot({ path: `${SCREENSHOTS}token.png` });
    await tab.getByRole('button', { name: 'Connect' }).click();
    await tab.getByRole('button', { name: 'coder::tree' }).waitFor();
    await tab.reload();
    await tab.getByRole('button', { name: 'coder::tree' }).waitFor();
    await tab.close();
  });

  test.runIf(isFull)('dark by the toggle, and it stays', async () => {
    await visit('functions/coder%3A%3Atree');
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await part('Result').waitFor();
    await shoot('functions-dark');
    const dark = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await dark()).toBe('rgb(22, 24, 26)');
    await page.reload();
    expect(await dark()).toBe('rgb(22, 24, 26)');
  });
});
