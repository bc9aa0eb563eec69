/**
 * Adding a function is one file and one line, adding a backend or a surface one folder: CONTRIBUTING.md is followed to the
 * letter, then what was added is used.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { connect } from '#client';
import {
  parseConfig,
  readCatalogue,
  shippedCell,
  silentLog,
  type AnyWorker,
  type Bus,
  type FunctionDef,
} from '#contract';
import { Engine } from '#engine';
import { referencePages, toMarkdown } from '#surfaces/reference';
import { coder } from '#workers/coder';
import { httpApp } from '../src/surfaces/http/app.ts';
import { backendNames } from '../src/workers/sandbox/config.ts';
import { openSandboxes } from '../src/workers/sandbox/worker.ts';
import { ociImage, serveWorker, startRegistry, tempDir, whyNoGuestRoot } from '#testing';
import { BACKENDS, sandbox, type BackendDef, type SandboxConfig } from '#workers/sandbox';

const PLACE = fileURLToPath(new URL('../.artifacts/contributing/', import.meta.url));

test('repo.P4 the function of CONTRIBUTING.md is on the bus, on HTTP, in OpenAPI and in the reference', async () => {
  await using dir = await tempDir({ 'three.txt': 'a\nb\nc\n' });
  const countLines = await writtenFunction();
  const worker: AnyWorker = { ...coder, functions: [...coder.functions, countLines] };

  const engine = new Engine();
  const context = await worker.open(parseConfig(worker.config, { base_path: dir.root }, 'coder'), silentLog);
  const connection = await connect(engine.dialer(), { name: 'coder' });
  connection.serve({ def: worker, context });
  const bus = await connect(engine.dialer());

  expect(await bus.call('coder::count-lines', { path: 'three.txt' })).toEqual({ path: 'three.txt', lines: 3 });
  await expect(bus.call('coder::count-lines', { path: '../x' })).rejects.toMatchObject({ code: 'C215' });

  const app = httpApp(bus, { version: '0.0.0', busErrors: [], maxBodyBytes: 1000 });
  const reply = await app.request('/functions/coder/count-lines', { method: 'POST', body: '{"path":"three.txt"}' });
  expect(await reply.json()).toEqual({ path: 'three.txt', lines: 3 });
  const openApi = (await (await app.request('/openapi.json')).json()) as { paths: object };
  expect(Object.keys(openApi.paths)).toContain('/functions/coder/count-lines');

  const [page] = referencePages(await readCatalogue(bus), { busErrors: [], workerErrors: [] });
  expect(toMarkdown(page!)).toContain('Count the lines of one file under base_path.');
  engine.close();
});

/** Writes the block as a file beside stand-ins for its neighbours, which re-export the real ones. */
async function writtenFunction(): Promise<FunctionDef<unknown>> {
  rmSync(PLACE, { recursive: true, force: true });
  mkdirSync(`${PLACE}functions`, { recursive: true });
  writeFileSync(`${PLACE}worker.ts`, `export * from '../../src/workers/coder/worker.ts';\n`);
  writeFileSync(`${PLACE}errors.ts`, `export * from '../../src/workers/coder/errors.ts';\n`);
  writeFileSync(`${PLACE}functions/count-lines.ts`, blockOf('src/workers/coder/functions/count-lines.ts'));
  const module = (await import(`${PLACE}functions/count-lines.ts`)) as { countLines: FunctionDef<unknown> };
  return module.countLines;
}

test('the surface of CONTRIBUTING.md makes calls, by name and with the help of a door', async () => {
  await using dir = await tempDir({ 'three.txt': 'a\nb\nc\n' });
  const serveLines = await writtenSurface();
  const engine = new Engine();
  const context = await coder.open(parseConfig(coder.config, { base_path: dir.root }, 'coder'), silentLog, shippedCell);
  const connection = await connect(engine.dialer(), { name: 'coder' });
  connection.serve({ def: coder, context });
  const bus = await connect(engine.dialer());

  const output = new PassThrough();
  const ask = (path: object) => JSON.stringify({ id: 'coder::read-file', request: path });
  const input = Readable.from([ask({ path: 'three.txt' }), ask({ file_path: 'three.txt' }), 'not JSON'].join('\n'));
  await serveLines(bus, { input, output });
  const replies = (output.read() as Buffer).toString().trim().split('\n');
  expect(replies.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { result: { content: 'a\nb\nc\n' } },
    { error: { code: 'C210', message: expect.stringContaining('path') } },
    { error: { message: expect.stringContaining('not a call') } },
  ]);
  const { ended } = (await bus.call('engine::calls::list')) as { ended: { caller: string }[] };
  expect(ended.map(({ caller }) => caller)).toEqual(['lines', 'lines']);
  await coder.close(context);
  engine.close();
});

async function writtenSurface() {
  const place = fileURLToPath(new URL('../.artifacts/contributing-surface/', import.meta.url));
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  writeFileSync(`${place}index.ts`, blockOf('src/surfaces/lines/index.ts'));
  type ServeLines = (bus: Bus, streams: { input: Readable; output: Writable }) => Promise<void>;
  return ((await import(`${place}index.ts`)) as { serveLines: ServeLines }).serveLines;
}

const whyNot = whyNoGuestRoot();

test.skipIf(whyNot !== undefined)(
  `the backend of CONTRIBUTING.md makes sandboxes${whyNot ? ` (${whyNot})` : ''}`,
  async () => {
    const { manifest, blobs } = ociImage([[{ name: 'etc/motd', content: 'welcome' }]]);
    await using registry = await startRegistry({ manifests: { v1: manifest }, blobs });
    await using cache = await tempDir();
    const backends = [...BACKENDS, await writtenBackend()];
    const worker: AnyWorker = {
      ...sandbox,
      config: sandbox.config.extend({ backend: backendNames(backends) }),
      open: (config, log) => openSandboxes(config as SandboxConfig, log, backends),
    };
    await using served = await serveWorker(worker, {
      backend: 'plain',
      cache_dir: cache.root,
      custom_images: { box: `${registry.host}/box:v1` },
      image_allowlist: ['box'],
      prepare_images: false,
    });

    const made = await served.call('sandbox::create', { image: 'box' });
    expect(made).toMatchObject({ backend: 'plain' });
    const { sandbox_id } = made;
    expect(await served.call('sandbox::exec', { sandbox_id, cmd: 'sh', args: ['-c', 'echo hello'] })).toMatchObject({
      stdout: 'hello\n',
      exit_code: 0,
    });
    expect(await served.call('sandbox::stop', { sandbox_id, wait: true })).toMatchObject({ stopped: true });
  },
);

/** The blocks as a folder beside stand-ins for its neighbours. */
async function writtenBackend(): Promise<BackendDef> {
  const place = fileURLToPath(new URL('../.artifacts/contributing-backend/', import.meta.url));
  rmSync(place, { recursive: true, force: true });
  for (const name of ['backends/backend.ts', 'backends/definition.ts']) {
    mkdirSync(dirname(place + name), { recursive: true });
    writeFileSync(place + name, `export * from '../../../src/workers/sandbox/${name}';\n`);
  }
  mkdirSync(`${place}backends/plain`);
  for (const name of ['backend.json', 'index.ts']) {
    const path = `backends/plain/${name}`;
    writeFileSync(place + path, blockOf(`src/workers/sandbox/${path}`));
  }
  return ((await import(`${place}backends/plain/index.ts`)) as { plain: BackendDef }).plain;
}

/** The first block after a file is named. */
function blockOf(file: string): string {
  const page = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8');
  const [, after = ''] = page.split(`\n\`${file}\``);
  return /```\w+\n([\s\S]*?)```/.exec(after)![1]!;
}
