/**
 * Hostile names, outputs, schemas and links in the console and the reference, in a real browser: shown as text, never run.
 *
 * The content policy is off for these pages, to test escaping alone; the last test checks the policy.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { launchChromium, whyNoChromium } from '../../e2e/support/chromium.ts';
import { web } from '../../e2e/support/web.ts';
import {
  COUNT,
  dialHostile,
  dialHostileSandboxes,
  dialOdd,
  HALF,
  hostile,
  hostiles,
  markOf,
  type HostilePeer,
} from './console-hostile.ts';
import { BREAK_IN, HARMLESS, LOOK, RESTYLE, type Look } from './console-look.ts';
import type { Peer } from '../engine/peer-socket.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
/** For one thing to appear in the page, on a busy machine. */
const PATIENCE_MS = 30_000;

const why = whyNoChromium();

describe.skipIf(why !== undefined)(`mcp.P11 hostile text in the console${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let peers: HostilePeer[];
  let sandboxes: Peer;
  let browser: Browser;
  let page: Page;
  const seen = new Set<string>();
  const complaints: string[] = [];
  const requested: string[] = [];

  beforeAll(async () => {
    dir = await tempDir({ 'ws/lines.txt': hostiles('line').join('\n'), 'ws/sed.txt': hostiles('sed').join(' ') });
    for (const name of hostiles('file name')) {
      const path = dir.path(`ws/names/${name}`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '');
    }
    const workers = [
      { name: 'coder', config: { base_path: dir.path('ws') } },
      { name: 'shell', config: { allowlist: ['sh'], fs: { host_root: dir.path('ws') } } },
    ];
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ workers }));
    cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
    peers = await Promise.all(Array.from({ length: COUNT }, (_, at) => dialHostile(cell.url, at)));
    sandboxes = await dialHostileSandboxes(cell.url);
    browser = await launchChromium();
    // As high as the list of calls, which renders only the rows in view.
    const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1360, height: 2000 } });
    await context.addInitScript('window.ran = []');
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('dialog', (dialog) => (complaints.push(`dialog ${dialog.message()}`), void dialog.dismiss()));
    page.on('console', (message) => {
      // The reference has no icon, and a browser still requests it.
      const isIcon = message.location().url.endsWith('/favicon.ico');
      if (message.type() === 'error' && !isIcon) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(`${cell.http}/#/functions`);
    await page.getByText('connected', { exact: true }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    sandboxes?.[Symbol.dispose]();
    for (const peer of peers ?? []) peer[Symbol.dispose]();
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  const open = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(`#/${hash}`)}`);
  const everyPayload = Array.from({ length: COUNT }, (_, at) => at);

  /** Waits until the page shows these fields, and asserts that it shows them as text. */
  async function sees(view: string, places: string[], payloads = everyPayload): Promise<void> {
    const wanted = places.flatMap((place) => payloads.map((at) => markOf(place, at)));
    let harm: Omit<Look, 'marks'> = HARMLESS;
    const missing = async () => {
      const { marks, ...found } = await page.evaluate<Look>(LOOK);
      harm = found;
      return isDeepStrictEqual(harm, HARMLESS) ? wanted.filter((mark) => !marks.includes(mark)) : [];
    };
    await expect.poll(missing, { timeout: PATIENCE_MS, interval: 100 }).toEqual([]);
    expect(harm).toEqual(HARMLESS);
    for (const mark of wanted) seen.add(`${view}: ${mark}`);
  }

  test('functions: what a worker says of them, their forms, results and failures', async () => {
    await sees('functions', ['worker', 'namespace', 'function id', 'failing id']);
    const kinds = ['function id', 'namespace', 'worker', 'summary', 'details', 'field', 'field description', 'default'];
    const more = ['enum', 'const', 'title', 'listed code', 'meaning', 'example'];
    for (const [at, { ids, namespace }] of peers.entries()) {
      const [answers, fails] = ids.map((id) => `functions/${encodeURIComponent(`${namespace}/${id}`)}`);
      await open(answers!);
      await sees('function', [...kinds, ...more], [at]);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await sees('result', ['result name', 'result'], [at]);
      await open(fails!);
      await page.getByRole('heading', { name: 'fails' }).waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await sees('failure', ['code', 'message', 'fix name', 'fix', 'extra name', 'extra'], [at]);
    }
    await open('functions');
    for (const at of everyPayload) {
      await page.getByLabel('Search functions').fill(hostile('function search', at));
      await sees('no function', ['function search'], [at]);
    }
  });

  test('workers', async () => {
    const kinds = ['worker', 'worker description', 'runtime', 'version', 'os', 'isolation', 'namespace', 'function id'];
    const { result } = await sandboxes.call('engine::workers::list');
    const hostileOnes = result.workers.filter(({ name }: { name: string }) => name.includes('⟨'));
    expect(hostileOnes).toHaveLength(COUNT);
    for (const { id, name } of hostileOnes) {
      await open(`workers/${id}`);
      await sees('worker', kinds, [Number(/(\d+)⟩$/.exec(name)![1])]);
    }
  });

  test('calls: names, payloads, results, failures and diffs', async () => {
    await open('calls');
    await page.getByLabel('keep payloads').waitFor();
    for (const [at, { peer, ids, namespace }] of peers.entries()) {
      const payload = { [hostile('payload name', at)]: hostile('payload', at) };
      for (const id of ids) await peer.call(id, payload, { namespace });
      await peer.call(hostile('unknown function', at), {}, { invocation_id: hostile('call id', at) });
    }
    const paths = hostiles('made file').map((path) => `made/${path}`);
    const files = paths.map((path, at) => ({ path, content: hostile('made line', at) }));
    await sandboxes.call('coder::create-file', { files: files.map((file) => ({ ...file, parents: true })) });
    const words = hostiles('sed').join(' ');
    await sandboxes.call('shell::fs::sed', { files: ['sed.txt'], pattern: words, replacement: 'x', regex: false });
    await sees('calls', ['function id', 'failing id', 'unknown function', 'worker', 'code']);

    const { result } = await sandboxes.call('engine::calls::list', { since: 0 });
    for (const { id, seq, caller, worker, started_at_ms, function_id } of result.ended) {
      const places = placesOfCall(function_id);
      if (places.length === 0 || caller === 'console') continue;
      await open(`calls/${encodeURIComponent(worker === null ? `refused-${started_at_ms}-${seq}` : id)}`);
      const [, at] = /(\d+)⟩$/.exec(function_id) ?? [];
      await page.getByRole('complementary', { name: 'Call' }).getByRole('heading', { name: function_id }).waitFor();
      await sees('call', places, at === undefined ? everyPayload : [Number(at)]);
    }
  });

  test('jobs: arguments and output', async () => {
    const args = [
      '-c',
      'printf "%s\\n" "$@" | sed s/argument/stdout/; printf "%s\\n" "$@" | sed s/argument/stderr/ >&2',
      'sh',
    ];
    const { result } = await sandboxes.call('shell::exec_bg', {
      command: 'sh',
      args: [...args, ...hostiles('argument')],
    });
    await open('jobs');
    await sees('jobs', ['argument']);
    await open(`jobs/${result.job_id}`);
    await sees('job', ['argument', 'stdout', 'stderr']);
  });

  test('jobs: what a program prints in a terminal, and what it asks of one', async () => {
    // A title, a link, a text for the clipboard and a picture.
    const sequences = String.raw`\033]0;%s\007\033]8;;javascript:ran.push(9)\007%s\033]8;;\007\033]52;c;cmFuLnB1c2g=\007\033Pq#0~-\033\\\n`;
    const script = `for x; do x=$(printf %s "$x" | sed s/argument/terminal/); printf '${sequences}' "$x" "$x"; done; read x`;
    const args = ['-c', script, 'sh', ...hostiles('argument')];
    const started = { command: 'sh', args, terminal: { cols: 100, rows: 60 } };
    const { result } = await sandboxes.call('shell::exec_bg', started);
    await open(`jobs/${result.job_id}`);
    await page.locator('.job-terminal[data-live]').waitFor();
    await sees('terminal', ['terminal']);
    // The terminal renders its rows anew while output arrives; a click on a row that it just replaced fails at once.
    const link = page.locator('.xterm-rows span', { hasText: '⟨terminal 3⟩' });
    await expect.poll(() => link.click({ force: true }).then(() => 'clicked', String)).toBe('clicked');
    await sees('terminal', ['terminal']);
    await sandboxes.call('shell::kill', { job_id: result.job_id });
  });

  test('sandboxes: names, images, output and files of a guest', async () => {
    await open('sandboxes');
    await sees('sandboxes', ['sandbox', 'image', 'rung', 'catalogue']);
    await open(`sandboxes/${encodeURIComponent(hostile('sandbox id', 0))}`);
    const line = page.getByLabel('Command in the sandbox');
    await line.fill(hostiles('guest line').join(' '));
    await line.press('Enter');
    await sees('sandbox', ['guest line', 'guest stdout', 'guest stderr', 'guest file']);
  });

  test('the workspace: names, lines, and what is searched for', async () => {
    await open('workspace/lines.txt');
    await sees('file', ['line']);
    await page.getByLabel('Search the workspace').fill('⟨file name');
    await sees('hits', ['file name']);
    await page.getByLabel('Search the workspace').fill('⟨made');
    await sees('hits', ['made file', 'made line']);
    for (const at of everyPayload) {
      await page.getByLabel('Search the workspace').fill(hostile('line', at));
      await expect.poll(() => page.locator('.hits mark').allTextContents()).toEqual([hostile('line', at)]);
      await sees('search', ['line'], [at]);
    }
    await page.getByLabel('regex').check();
    for (const at of [0, 2, 8]) {
      await page.getByLabel('Search the workspace').fill(`(${hostile('regex', at)}`);
      await page.getByRole('alert').getByText(markOf('regex', at)).waitFor();
      await sees('wrong regex', ['regex'], [at]);
    }
    await page.getByLabel('Search the workspace').fill('');
    await page.getByRole('button', { name: /names$/ }).click();
    await sees(
      'tree',
      ['file name'],
      everyPayload.filter((at) => !hostile('file name', at).includes('/')),
    );
  });

  test('changes: labels, files and lines', async () => {
    for (const label of hostiles('label')) await sandboxes.call('coder::checkpoint', { label });
    await open('changes');
    await sees('changes', ['label']);
    await page.getByRole('button', { name: /^coder::create-file/ }).click();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByRole('region', { name: 'Confirmation' }).waitFor();
    await sees('change', ['made file', 'made line']);
  });

  test('links: what is in the hash, encoded or not, and in the query', async () => {
    for (const at of everyPayload) {
      for (const name of ['functions', 'jobs', 'workspace', 'changes']) {
        await open(`${name}/${encodeURIComponent(hostile(`${name} link`, at))}`);
        await sees('link', [`${name} link`], [at]);
      }
      await open(`functions/${hostile('bare link', at)}`);
      await sees('link', ['bare link'], [at]);
    }
    const all = encodeURIComponent(hostiles('query').join(' '));
    await page.goto(`${cell.http}/?${all}=${all}#/calls/${all}`);
    await page.getByLabel('Filter calls').fill(hostiles('call filter').join(' '));
    await sees('query', ['call filter']);
  });

  test('the reference', async () => {
    const kinds = [
      'worker',
      'function id',
      'failing id',
      'summary',
      'details',
      'field',
      'field description',
      'default',
    ];
    const more = ['enum', 'listed code', 'meaning', 'example', 'answer field', 'answer description'];
    for (const at of everyPayload) {
      await page.goto(`${cell.http}/docs/${encodeURIComponent(hostile('worker', at))}`);
      await sees('reference', [...kinds, ...more], [at]);
    }
    await page.goto(`${cell.http}/docs/errors`);
    await sees('errors', ['worker', 'function id', 'listed code', 'meaning']);
  });

  test('names that every object has, values without a text and halves of a character break no page', async () => {
    using odd = await dialOdd(cell.url);
    await page.goto(`${cell.http}/#/functions/odd%3A%3Akeys`);
    await page.getByRole('button', { name: 'optional fields' }).click();
    await sees('odd form', ['enum', 'tag'], [0]);
    expect(await page.locator('.member-name').allInnerTexts()).toEqual(['__proto__', 'constructor', 'pick', 'either']);
    expect(await page.getByLabel('constructor').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await sees('odd result', ['own'], [0, 1]);
    await page.getByRole('button', { name: `odd::half` }).click();
    await page.getByRole('heading', { name: 'odd::half' }).waitFor();

    const { result } = await odd.call('engine::workers::list');
    const worker = result.workers.find(({ name }: { name: string }) => name === `odd ${HALF}`);
    await open(`workers/${worker.id}`);
    await page.getByRole('link', { name: 'odd::half' }).waitFor();
    expect((await web(`${cell.http}/docs/errors`)).status).toBe(200);
    await page.goto(`${cell.http}/docs/odd%20half%20%EF%BF%BD`);
    await page.getByRole('heading', { name: 'odd half' }).waitFor();
  });

  test('nothing was asked of another host, and 1,011 pairs of payload and field were seen', () => {
    expect([...new Set(requested.map((url) => new URL(url).origin))]).toEqual([cell.http]);
    expect(seen.size).toBe(1_011);
  });

  test('the content policy would have stopped a script that got in', async () => {
    const guarded = await browser.newPage();
    for (const path of ['/', '/docs/errors', '/docs/coder']) {
      const policy = String((await web(cell.http + path)).headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none';/);
      expect(policy.match(/(?:script|object|frame)-src[^;]*/g) ?? []).toEqual(
        path === '/' ? ["script-src 'self'"] : [],
      );
      await guarded.goto(cell.http + path);
      expect(await guarded.evaluate(BREAK_IN)).toEqual({ ran: [], stopped: ['script-src-attr', 'script-src-elem'] });
    }
  });

  test('the content policy stops styles that got in, also beside a terminal', async () => {
    const started = { command: 'sh', args: ['-c', 'echo up; read x'], terminal: { cols: 80, rows: 24 } };
    const { result } = await sandboxes.call('shell::exec_bg', started);
    const guarded = await browser.newPage();
    await guarded.goto(`${cell.http}/#/jobs/${result.job_id}`);
    await guarded.locator('.xterm-rows').getByText('up').waitFor();
    expect(await guarded.evaluate(RESTYLE)).toEqual({
      colours: [1, 2, 3].map(() => 'rgb(30, 35, 38)'),
      stopped: ['style-src-attr', 'style-src-attr', 'style-src-elem'],
    });
    await sandboxes.call('shell::kill', { job_id: result.job_id });
  });
});

/** The details on the card of a call. */
function placesOfCall(functionId: string): string[] {
  if (functionId === 'coder::create-file') return ['made file', 'made line'];
  if (functionId === 'shell::fs::sed') return ['sed'];
  if (functionId.includes('⟨unknown function')) return ['unknown function', 'call id'];
  if (functionId.startsWith('fails'))
    return ['payload name', 'payload', 'code', 'message', 'fix name', 'fix', 'extra name', 'extra'];
  return functionId.includes('⟨function id') ? ['payload name', 'payload', 'result name', 'result'] : [];
}
