/** Adding a function is one file and one line: CONTRIBUTING.md is followed to the letter, then every surface is asked. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, readCatalogue, silentLog, type AnyWorker, type FunctionDef } from '#contract';
import { Engine } from '#engine';
import { referencePages, toMarkdown } from '#surfaces/reference';
import { coder } from '#workers/coder';
import { httpApp } from '../src/surfaces/http/app.ts';
import { tempDir } from '#testing';

const FILE = /`src\/workers\/coder\/functions\/count-lines\.ts`:\n\n```ts\n([\s\S]*?)```/;
const PLACE = fileURLToPath(new URL('../.artifacts/contributing/', import.meta.url));

test('the function of CONTRIBUTING.md is on the bus, on HTTP, in OpenAPI and in the reference', async () => {
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

/** The block as a file beside stand-ins for its neighbours, which lead to the real ones. */
async function writtenFunction(): Promise<FunctionDef<unknown>> {
  const [, code] = FILE.exec(readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8'))!;
  rmSync(PLACE, { recursive: true, force: true });
  mkdirSync(`${PLACE}functions`, { recursive: true });
  writeFileSync(`${PLACE}worker.ts`, `export * from '../../src/workers/coder/worker.ts';\n`);
  writeFileSync(`${PLACE}errors.ts`, `export * from '../../src/workers/coder/errors.ts';\n`);
  writeFileSync(`${PLACE}functions/count-lines.ts`, code!);
  const module = (await import(`${PLACE}functions/count-lines.ts`)) as { countLines: FunctionDef<unknown> };
  return module.countLines;
}
