/**
 * The JavaScript samples of the seeds, unchanged (tests/compat/samples), on our own workers; only the port differs.
 *
 * None of them ends by itself: the client stays open. A test reads the output and ends the program.
 */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';

import { describe, expect, test, vi } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog, type AnyWorker } from '#contract';
import { IMAGE_PATIENCE_MS, sandboxConfig, startEngine, tempDir, whyNoSandbox, type TestEngine } from '#testing';
import { coder } from '#workers/coder';
import { sandbox } from '#workers/sandbox';
import { shell } from '#workers/shell';
import { Child } from './support/children.ts';
import { connectSdk, packageOf, versions, type Version } from './support/clients.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: IMAGE_PATIENCE_MS });

test.each(versions)('%s: the sample of shell prints what the command wrote', async (version) => {
  await using dir = await tempDir();
  await using engine = await startEngine();
  await using worker = await serve(engine, shell, { fs: { host_root: dir.root } });

  await using program = quickstart(sample('shell'), version, engine);
  await program.printed('}\n');

  expect(await worker.call('shell::list', {})).toEqual({ jobs: [], count: 0 });
  expect(program.stdout).toMatch(/\{[^}]*\bexit_code: 0,[^}]*\bstdout: 'hello\\n',[^}]*\}\n/s);
});

const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`sandboxes${why === undefined ? '' : ` (${why})`}`, () => {
  test.each(versions)('%s: the sample of sandboxes creates one, runs python in it and stops it', async (version) => {
    await using engine = await startEngine();
    await using worker = await serve(engine, sandbox, sandboxConfig());

    await using program = quickstart(sample('sandbox'), version, engine);
    await program.printed('4\n\n');

    await expect.poll(() => worker.call('sandbox::list', {})).toEqual({ sandboxes: [] });
  });
});

const READ_FILE = `
import { registerWorker } from 'iii-sdk'
const worker = registerWorker('ws://localhost:49134')
const result = await worker.trigger({
function_id: 'coder::read-file',
payload: { path: 'notes.md' },
})
console.log(result)
`;

test.each(versions)('%s: the same quickstart reads a file through our own coder::read-file', async (version) => {
  await using dir = await tempDir({ 'notes.md': '# notes\n- one\n- two\n' });
  await using engine = await startEngine();
  await using worker = await serve(engine, coder, { base_path: dir.root });

  await using program = quickstart(READ_FILE, version, engine);
  await program.printed('}\n');

  const expected = await worker.call('coder::read-file', { path: 'notes.md' });
  expect(expected).toMatchObject({ path: 'notes.md', content: '# notes\n- one\n- two\n', is_utf8: true, size: 20 });
  expect(program.stdout).toContain(`${inspect(expected)}\n`);
});

test.each(versions)('%s: a file that is not there fails with the coder’s own code', async (version) => {
  await using dir = await tempDir();
  await using engine = await startEngine();
  await using worker = await serve(engine, coder, { base_path: dir.root });
  await using client = connectSdk(version, engine.url);

  const reading = client.trigger({ function_id: 'coder::read-file', payload: { path: 'absent.md' } });

  await expect(reading).rejects.toMatchObject({
    code: 'invocation_failed',
    message: expect.stringMatching(/^invocation_failed: \{"code":"C211","message":".*absent\.md.*"/),
  });
  await expect(worker.call('coder::read-file', { path: 'absent.md' })).rejects.toMatchObject({ code: 'C211' });
});

function quickstart(program: string, version: Version, { server }: TestEngine): Child {
  const here = program.replace(':49134', `:${server.port}`).replace(`'iii-sdk'`, `'${packageOf[version]}'`);
  return new Child(here);
}

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}.typescript.txt`, import.meta.url), 'utf8');
}

async function serve({ engine }: TestEngine, def: AnyWorker, config: Record<string, unknown>) {
  const context = await def.open(parseConfig(def.config, config, def.name), silentLog);
  const connection = await connect(engine.dialer(), { name: def.name });
  connection.serve({ def, context });
  return Object.assign(connection, {
    async [Symbol.asyncDispose]() {
      connection.close();
      await def.close(context);
    },
  });
}
