/** Open changes in a real browser and on the command line: their effects, every deletion, approve and discard. */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { connect, type Connection } from '#client';
import { CallError } from '#contract';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../support/chromium.ts';
import { openConsolePage, type ConsolePage } from '../support/console-page.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const why = whyNoChromium();

let dir: TempDir;
let cell: CliProcess;
let peer: Connection;

beforeAll(async () => {
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`ws/old-${at}.txt`, `${at}\n`]));
  dir = await tempDir({ ...files, 'ws/note.txt': 'one\n', 'state/': '' });
  const workers = [
    { name: 'coder', config: { base_path: dir.path('ws') } },
    {
      name: 'shell',
      config: { allowlist: [], denylist_patterns: [], rules: [], fs: { host_root: dir.path('ws') } },
    },
    { name: 'change', config: { workspace: dir.path('ws'), outside: 'as-is', commit: 'console' } },
  ];
  writeFileSync(dir.path('config.yaml'), JSON.stringify({ state_dir: dir.path('state'), workers }));
  cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
  peer = await connect(cell.url, { name: 'an agent' });
});
afterAll(async () => {
  peer?.close();
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

/** A change that edits a file and deletes others; an agent may not commit it. */
async function waitingChange(name: string, deleted: readonly string[]): Promise<void> {
  await peer.call('change::begin', { name, note: 'tidy up' });
  const ops = [{ op: 'insert', at_line: 2, content: `added by ${name}` }];
  await peer.call('coder::update-file', { change: name, files: [{ path: 'note.txt', ops }] });
  await peer.call('coder::delete-file', { change: name, paths: deleted });
  await peer.call('shell::exec', { change: name, command: '/bin/echo', args: ['looked around'] });
  const error = await peer.call('change::commit', { change: name }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CallError);
  expect((error as CallError).code).toBe('W218');
  expect((error as CallError).message).toContain(`workcell change approve ${name}`);
}

/** As if no call had used it for longer than `idle_days`. */
function age(name: string): void {
  const [store] = readdirSync(dir.path('state/changes'));
  const then = Date.now() / 1000 - 15 * 86_400;
  utimesSync(dir.path(`state/changes/${store}/${name}/lock`), then, then);
}

test('change.A24 the command line shows a waiting change and approves it', async () => {
  await waitingChange('by-cli', ['old-4.txt', 'old-5.txt']);
  age('by-cli');
  const cli = (...words: string[]) => runCli(['change', ...words, '--url', cell.url]);
  const config = ['-c', dir.path('config.yaml')];
  expect((await cli('list')).stdout).toMatch(/by-cli .*waiting-for-approval, stale +tidy up/);
  const { stdout } = await cli('diff', 'by-cli');
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    '1 modified, 2 deleted',
    '  deleted old-4.txt',
    '  deleted old-5.txt',
  ]);
  expect(stdout).toContain('  ran /bin/echo looked around\n');
  expect(stdout).toContain('+added by by-cli');
  expect((await cli('commit', 'by-cli')).stderr).toContain('[W218]');
  const version = /^ {2}version (sha256:\S+)$/m.exec(stdout)![1]!;
  const ops = [{ op: 'insert', at_line: 2, content: 'after the look' }];
  await peer.call('coder::update-file', { change: 'by-cli', files: [{ path: 'note.txt', ops }] });
  expect((await cli('approve', 'by-cli', '--version', version, ...config)).stderr).toContain('[W219]');
  const approved = await cli('approve', 'by-cli', ...config);
  expect(approved.stdout).toMatch(/^committed by-cli; workcell undo --seq \d+ takes it back\n/);
  expect(existsSync(dir.path('ws/old-4.txt'))).toBe(false);
  expect(readFileSync(dir.path('ws/note.txt'), 'utf8')).toContain('added by by-cli');
  expect((await cli('begin', 'other')).stdout).toBe('other\n');
  expect((await cli('list')).stdout).toMatch(/other .* open$/m);
  expect((await cli('discard', 'other')).stdout).toMatch(/^discarded other: 0 entries/);
  expect((await cli('commit', 'other')).stderr).toContain('[W211] there is no change "other"');
});

describe.skipIf(why !== undefined)(`changes in the console${why === undefined ? '' : ` (${why})`}`, () => {
  let browser: Browser;
  let view: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    view = await openConsolePage(browser, cell.http);
    page = view.page;
  });
  afterEach(() => view.close());

  test('change.A24 the console shows every deletion, and approves', async () => {
    await waitingChange('by-page', ['old-0.txt', 'old-1.txt']);
    age('by-page');
    await view.visit('changes');
    await page.getByText('waits for approval').first().waitFor();
    await page.getByText('stale').first().waitFor();
    await page.getByText('by-page').first().click();
    await page.getByRole('region', { name: 'Deleted' }).waitFor();
    expect(await page.getByRole('region', { name: 'Deleted' }).getByRole('listitem').allInnerTexts()).toEqual([
      'old-0.txt',
      'old-1.txt',
    ]);
    await page.getByText('added by by-page').waitFor();
    const ran = page.getByRole('region', { name: 'Commands that ran' }).getByRole('listitem');
    expect(await ran.allInnerTexts()).toEqual([expect.stringMatching(/ \/bin\/echo looked around$/)]);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const key = page.getByLabel("Operator's key");
    await key.fill('wco_guessed');
    await page.getByRole('button', { name: 'Approve with this key' }).click();
    await page.getByRole('alert').filter({ hasText: "not the operator's key" }).waitFor();
    expect(existsSync(dir.path('ws/old-0.txt'))).toBe(true);
    const printed = await runCli(['approvals', 'key', '-c', dir.path('config.yaml')]);
    await peer.call('shell::exec', { change: 'by-page', command: '/bin/rm', args: ['note.txt'] });
    await key.fill(printed.stdout.trim());
    await page.getByRole('button', { name: 'Approve with this key' }).click();
    await page.getByRole('alert').filter({ hasText: 'changed since that diff' }).waitFor();
    expect(existsSync(dir.path('ws/old-0.txt'))).toBe(true);
    await page.getByRole('region', { name: 'Deleted' }).getByText('note.txt').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await expect.poll(() => existsSync(dir.path('ws/old-0.txt'))).toBe(false);
    expect(existsSync(dir.path('ws/note.txt'))).toBe(false);
  });

  test('a change is discarded, and the workspace stays as it is', async () => {
    await waitingChange('unwanted', ['old-2.txt']);
    await view.visit('changes/open%3Aunwanted');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(async () => ((await peer.call('change::list')) as { changes: unknown[] }).changes).toEqual([]);
    expect(existsSync(dir.path('ws/old-2.txt'))).toBe(true);
  });
});
