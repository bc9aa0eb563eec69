/**
 * The JavaScript quickstarts of the originals, line by line as they stand there; only the port differs.
 *
 * None of them ends by itself: the client stays open. A test reads what was printed and ends the program.
 */
import { inspect } from 'node:util';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import { startEngine, tempDir, type TestEngine } from '#testing';
import { coder } from '#workers/coder';
import { Child } from './support/children.ts';
import { connectSdk, packageOf, versions, type Version } from './support/clients.ts';

const SHELL_EXEC = `
import { registerWorker } from 'iii-sdk'
const worker = registerWorker('ws://localhost:49134')
const result = await worker.trigger({
function_id: 'shell::exec',
payload: { command: 'echo', args: ['hello'] },
})
console.log(result)
`;

test.each(versions)(
  '%s: the shell quickstart prints its result (a stand-in answers for shell::exec)',
  async (version) => {
    await using engine = await startEngine();
    await using standIn = connectSdk(version, engine.url, { workerName: 'shell' });
    const calls: unknown[] = [];
    const output = { exit_code: 0, stdout: 'hello\n', stderr: '', duration_ms: 3, timed_out: false };
    standIn.registerFunction('shell::exec', async (request: unknown) => {
      calls.push(request);
      return output;
    });
    await standIn.settled();

    await using program = quickstart(SHELL_EXEC, version, engine);
    await program.printed(`${inspect(output)}\n`);

    expect(calls).toEqual([{ command: 'echo', args: ['hello'] }]);
  },
);

const SANDBOX = `
import { registerWorker } from 'iii-sdk'
const iii = registerWorker('ws://127.0.0.1:49134')
const { sandbox_id } = await iii.trigger({
function_id: 'sandbox::create',
payload: { image: 'python', cpus: 1, memory_mb: 512 },
timeoutMs: 300_000,
})
const out = await iii.trigger({
function_id: 'sandbox::exec',
payload: { sandbox_id, cmd: 'python3', args: ['-c', 'print(2 + 2)'] },
timeoutMs: 35_000,
})
console.log(out.stdout) // "4\\n"
await iii.trigger({
function_id: 'sandbox::stop',
payload: { sandbox_id, wait: true },
})
`;

test.each(versions)(
  '%s: the sandbox quickstart creates, executes and stops (stand-ins answer for sandbox::*)',
  async (version) => {
    await using engine = await startEngine();
    await using standIn = connectSdk(version, engine.url, { workerName: 'sandbox' });
    const calls: unknown[] = [];
    const answer = (id: string, result: object) =>
      standIn.registerFunction(id, async (request: unknown) => {
        calls.push([id, request]);
        return result;
      });
    answer('sandbox::create', { sandbox_id: 'sb-1' });
    answer('sandbox::exec', { stdout: '4\n', stderr: '', exit_code: 0 });
    answer('sandbox::stop', { stopped: true });
    await standIn.settled();

    await using program = quickstart(SANDBOX, version, engine);
    await program.printed('4\n\n');

    await expect
      .poll(() => calls)
      .toEqual([
        ['sandbox::create', { image: 'python', cpus: 1, memory_mb: 512 }],
        ['sandbox::exec', { sandbox_id: 'sb-1', cmd: 'python3', args: ['-c', 'print(2 + 2)'] }],
        ['sandbox::stop', { sandbox_id: 'sb-1', wait: true }],
      ]);
  },
);

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
  await using worker = await serveCoder(engine, dir.root);

  await using program = quickstart(READ_FILE, version, engine);
  await program.printed('}\n');

  const expected = await worker.call('coder::read-file', { path: 'notes.md' });
  expect(expected).toMatchObject({ path: 'notes.md', content: '# notes\n- one\n- two\n', is_utf8: true, size: 20 });
  expect(program.stdout).toContain(`${inspect(expected)}\n`);
});

test.each(versions)('%s: a file that is not there fails with the coder’s own code', async (version) => {
  await using dir = await tempDir();
  await using engine = await startEngine();
  await using worker = await serveCoder(engine, dir.root);
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

async function serveCoder({ engine }: TestEngine, base_path: string) {
  const context = await coder.open(parseConfig(coder.config, { base_path }, 'coder'), silentLog);
  const connection = await connect(engine.dialer(), { name: 'coder' });
  connection.serve({ def: coder, context });
  return Object.assign(connection, {
    async [Symbol.asyncDispose]() {
      connection.close();
      await coder.close(context);
    },
  });
}
