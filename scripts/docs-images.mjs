/**
 * Makes the pictures of the README and the console guide: `npm run docs:images`.
 *
 * A built Workcell serves a small workspace to two real MCP clients; what they do is what the pictures show. With
 * `--all DIRECTORY` every page goes there at both sizes, light and dark, for review.
 */
import { spawn, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');
const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
const FILES = {
  'README.md': '# Rover\n\nDrives on its own.\n',
  'package.json': '{ "name": "rover", "private": true, "scripts": { "test": "node --test" } }\n',
  'src/drive.js':
    "import { brake } from './brake.js';\n\nexport function drive(speed) {\n  if (speed > 3) brake();\n  return speed;\n}\n",
  'src/brake.js': 'export function brake() {\n  // TODO: press harder\n  return 0;\n}\n',
  'src/notes.txt': 'turn left at the stone\nthen straight on\n',
  'test/drive.test.js':
    "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { drive } from '../src/drive.js';\n\ntest('slows down', () => assert.equal(drive(5), 3));\n",
};

const everything = process.argv[2] === '--all' ? process.argv[3] : undefined;
const base = mkdtempSync(join(tmpdir(), 'workcell-images-'));
/** @type {(() => unknown)[]} */
const ends = [() => rmSync(base, { recursive: true, force: true })];
try {
  await main();
} finally {
  for (const end of ends.toReversed()) await end();
}

async function main() {
  const workspace = join(base, 'rover');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  const origin = await startServer(workspace);
  await work(origin);
  const browser = await chromium.launch({
    executablePath: program('chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  ends.push(() => browser.close());
  if (everything === undefined) await shootForPages(browser, origin);
  else await shootAll(browser, origin, everything);
}

async function startServer(workspace) {
  const args = [join(ROOT, 'dist/cli/main.js'), 'start', '--port', '0', '--preset', 'open', '--workspace', workspace];
  const env = { ...process.env, XDG_STATE_HOME: join(base, 'state'), WORKCELL_NO_APT: '1' };
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  ends.push(() => new Promise((resolve) => (server.once('exit', resolve), server.kill('SIGTERM'))));
  for await (const line of createInterface({ input: server.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('the server ended before it served');
}

/** The calls of two agents, one of which still runs. */
async function work(origin) {
  const claude = await connect(origin, 'claude-code');
  const cursor = await connect(origin, 'cursor');
  const call = (client, name, args) => client.callTool({ name, arguments: args }).catch(() => {});
  await call(claude, 'search', { pattern: 'TODO' });
  await call(claude, 'read', { paths: ['src/brake.js', 'src/drive.js'] });
  await call(cursor, 'list', {});
  await call(claude, 'run', { command: 'node --test' });
  await call(claude, 'edit', {
    edits: [
      {
        path: 'src/drive.js',
        old: '  if (speed > 3) brake();\n  return speed;\n',
        new: '  if (speed <= 3) return speed;\n  brake();\n  return 3;\n',
      },
    ],
  });
  await call(claude, 'run', { command: 'node --test' });
  await call(cursor, 'read', { paths: ['../../etc/shadow'] });
  await call(cursor, 'edit', {
    edits: [{ path: 'README.md', old: 'Drives on its own.\n', new: 'Drives on its own, and stops.\n\n    npm test\n' }],
  });
  await call(cursor, 'move', { moves: [{ from: 'src/notes.txt' }] });
  await call(cursor, 'run', { command: 'while sleep 1; do echo "watching src"; done', background: true });
  void call(claude, 'run', { command: 'npm run build && sleep 600', timeout_s: 600 });
  void call(claude, 'run', { command: 'sleep 600', timeout_s: 600 });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}

async function connect(origin, name) {
  const client = new Client({ name, version: '2.1.0' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
  ends.push(() => client.close());
  return client;
}

async function openPage(browser, origin, { size = SIZES.wide, colorScheme = 'light' } = {}) {
  const page = await browser.newPage({ viewport: size, colorScheme });
  page.setDefaultTimeout(20_000);
  await page.goto(`${origin}/#/home`);
  await page.getByRole('region', { name: 'Running now' }).getByText('sleep 600').first().waitFor();
  return page;
}

async function shootForPages(browser, origin) {
  mkdirSync(IMAGES, { recursive: true });
  const page = await openPage(browser, origin);
  await page.screenshot({ path: join(IMAGES, 'console-home.png') });
  await visit(page, 'calls');
  await page.screenshot({ path: join(IMAGES, 'console-calls.png') });
  await visit(page, 'changes');
  await page.getByRole('button', { name: 'by file' }).click();
  await page.getByRole('button', { name: /src\/notes.txt/ }).click();
  await page.getByText('turn left at the stone').waitFor();
  await page.screenshot({ path: join(IMAGES, 'console-changes.png') });
  const phone = await openPage(browser, origin, { size: SIZES.narrow, colorScheme: 'dark' });
  await visit(phone, 'calls');
  await phone.screenshot({ path: join(IMAGES, 'console-phone.png') });
  shrink(
    ['console-home', 'console-calls', 'console-changes', 'console-phone'].map((name) => join(IMAGES, `${name}.png`)),
  );
}

/** A browser writes pictures of 24 bits; pages of few colours need 8. */
function shrink(files) {
  const tool = program('pngquant');
  if (tool) execFileSync(tool, ['--force', '--ext', '.png', '--speed', '1', ...files]);
}

async function shootAll(browser, origin, directory) {
  mkdirSync(directory, { recursive: true });
  for (const [name, size] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await openPage(browser, origin, { size, colorScheme });
      for (const target of ['home', 'calls', 'changes', 'jobs', 'sandboxes', 'workspace', 'functions', 'workers']) {
        await visit(page, target);
        await page.screenshot({ path: join(directory, `${target}-${name}-${colorScheme}.png`) });
      }
      await page.close();
    }
  }
}

async function visit(page, target) {
  await page.evaluate((hash) => (location.hash = hash), `#/${target}`);
  await page.waitForFunction((title) => document.title.toLowerCase().startsWith(title), target);
  await page.waitForTimeout(400);
}

function program(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}
