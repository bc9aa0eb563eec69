/** The tool list as a client and a model get it, and a call of every tool. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { availableWorkers } from '#assembly';
import { toToolName } from '#protocol';
import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { serveForeign } from '../support/foreign-worker.ts';
import { httpTransport, openClient, stdioTransport, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** A watch is for a person's view: it has no end, so that no model gets it as a tool. */
const ours = availableWorkers
  .filter(({ name }) => name !== 'agent')
  .flatMap(({ functions }) => functions)
  .filter((fn) => fn.isWatch !== true);

const fileIds = (name: string) => [`shell::fs::${name}`, `sandbox::fs::${name}`];
/** Tools that remove nothing, whatever the request. */
const ONLY_ADD = new Set([
  ...['sandbox::create', 'sandbox::run', 'filesystem::mkdir', 'filesystem::insert'],
  ...fileIds('mkdir'),
]);
/** Tools that are idempotent. */
const REPEATABLE = new Set([
  ...['coder::create-file', 'coder::delete-file', 'shell::kill', 'sandbox::kill', 'sandbox::stop'],
  ...['filesystem::write', 'filesystem::mkdir', 'filesystem::cp', 'filesystem::rm'],
  ...['mkdir', 'chmod', 'write', 'rm'].flatMap(fileIds),
]);

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'README.md': '# hello\n', 'src/a.ts': 'let a = 1;\n', 'kept.md': 'kept\n' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const transports = {
  stdio: (...options: string[]) => stdioTransport({}, '--workspace', dir.root, ...options),
  http: () => httpTransport(cell.http),
};

test('mcp.P9 every tool says what it is: name, description, what it takes, and hints that are true', async () => {
  await using client = await openClient(transports.http());
  const { tools } = await client.listTools();
  const described = tools.map(({ name, description = '', inputSchema, annotations }) => ({
    name: /^[A-Za-z0-9_]{1,64}$/.test(name) ? name : `no name: ${name}`,
    hasDescription: /^[A-Z].{10,}/.test(description),
    type: inputSchema.type,
    annotations,
  }));
  const expected = ours.map(({ id, effect }) => ({
    name: toToolName(id),
    hasDescription: true,
    type: 'object',
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect !== 'read' && !ONLY_ADD.has(id),
      idempotentHint: effect === 'read' || REPEATABLE.has(id),
      openWorldHint: effect === 'execute',
    },
  }));
  expect(described).toEqual(expected.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
});

test('both transports offer the same tools', async () => {
  await using near = await openClient(transports.stdio());
  await using far = await openClient(transports.http());
  expect((await near.listTools()).tools).toEqual((await far.listTools()).tools);
});

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  test('mcp.P1 every tool answers a call, by its schema or with a code', async () => {
    await using client = await openClient(transports[transport]());
    await client.listTools();
    const outcomes: string[] = [];
    for (const { id, examples, errors } of ours) {
      // A test that only needs an answer pulls and starts nothing.
      const payload = id.startsWith('sandbox::') ? {} : ((examples[0] ?? {}) as Record<string, unknown>);
      const result = await client.callTool({ name: toToolName(id), arguments: payload });
      expect({ id, hasText: /\S/.test(textOf(result)) }).toEqual({ id, hasText: true });
      const code = codeOf(result);
      outcomes.push(code ?? 'done');
      if (result.isError)
        expect({ id, code }).toEqual({ id, code: expect.toBeOneOf([...errors, 'invocation_failed']) });
    }
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeGreaterThan(15);
  });
});

/** The code of a failure: the start of its text, or of the first item of a batch. */
function codeOf(result: { isError?: boolean; content: { type: string }[] }) {
  return result.isError ? /^(?:FAILED: .*\n- [^:]*: )?(\w+): /.exec(textOf(result))?.[1] : undefined;
}

test('the list costs a model no output schemas, no titles and nothing about schemas', async () => {
  await using client = await openClient(transports.http());
  const list = JSON.stringify(await client.listTools());
  for (const word of ['"outputSchema"', '"$schema"', '"title":"']) expect(list).not.toContain(word);
  expect(Buffer.byteLength(list)).toBeLessThan(95_000);
});

test('a model gets its own defaults, and a structured client gets output schemas', async () => {
  await using client = await openClient(transports.stdio('--structured', '--tools', 'coder'));
  const { tools } = await client.listTools();
  const find = tools.find(({ name }) => name === 'coder_search')!;
  expect(find.inputSchema.properties!.respect_gitignore).toMatchObject({ default: true });
  expect(tools.every(({ outputSchema }) => outputSchema?.type === 'object')).toBe(true);
});

test('mcp.P9 every tool refuses a field it does not have', async () => {
  await using client = await openClient(transports.http());
  for (const { id, examples } of ours) {
    const payload = { ...(examples[0] as object), no_such_field_at_all: 1 };
    const result = await client.callTool({ name: toToolName(id), arguments: payload });
    expect({ id, text: textOf(result) }).toEqual({
      id,
      text: expect.stringContaining('unknown field `no_such_field_at_all`') as string,
    });
  }
});

test('offers only what is asked for', async () => {
  await using some = await openClient(transports.stdio('--tools', 'coder_tree,coder::search'));
  expect((await some.listTools()).tools.map(({ name }) => name)).toEqual(['coder_search', 'coder_tree']);
  await expect(some.callTool({ name: 'coder_read_file', arguments: { path: 'README.md' } })).rejects.toThrow('no tool');
});

test('mcp.P2 with --read-only there is nothing that changes or runs anything', async () => {
  await using reading = await openClient(transports.stdio('--read-only'));
  const names = (await reading.listTools()).tools.map(({ name }) => name);
  const expected = ours.filter(({ effect }) => effect === 'read').map(({ id }) => toToolName(id));
  expect(names).toEqual(expected.toSorted());
  expect(names).not.toContain('shell_exec');

  const refused = [
    ['coder_delete_file', { paths: ['README.md'] }],
    ['shell_exec', { command: 'ls' }],
    ['sandbox_exec', { sandbox_id: 'x', cmd: 'ls' }],
  ] as const;
  for (const [name, payload] of refused)
    await expect(reading.callTool({ name, arguments: payload })).rejects.toThrow(`no tool ${name}`);
  const read = await reading.callTool({ name: 'coder_read_file', arguments: { path: 'kept.md' } });
  expect(textOf(read)).toContain('content:\nkept\n');
});

test('a removed function is no longer a tool, and is one again when it is back', async () => {
  await using client = await openClient(transports.http());
  const serve = () => serveForeign(cell.url, { id: 'other::hello', handle: () => ({ hello: true }) });
  const call = (name: string) => client.callTool({ name, arguments: {} });

  const first = await serve();
  expect(textOf(await call(first.tool))).toBe('hello: true');
  await first[Symbol.asyncDispose]();
  await expect.poll(() => call(first.tool).catch(String)).toContain('no tool other_hello');

  await using second = await serve();
  expect(textOf(await call(second.tool))).toBe('hello: true');
});

test('mcp.P2 a read-only surface does not run what was read-only when it was listed and is no longer', async () => {
  await using client = await openClient(stdioTransport({}, '--url', cell.url, '--read-only'));
  const handle = () => ({ done: true });
  const reading = await serveForeign(cell.url, { id: 'other::turn', effect: 'read', handle });
  const call = () => client.callTool({ name: reading.tool, arguments: {} });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain(reading.tool);
  expect(textOf(await call())).toBe('done: true');
  await reading[Symbol.asyncDispose]();

  await using writing = await serveForeign(cell.url, { id: 'other::turn', effect: 'write', handle });
  expect(writing.tool).toBe(reading.tool);
  await expect.poll(() => call().catch(String)).toContain('no tool other_turn');
});

test('`success: false` is a failure only of a function that fails that way', async () => {
  await using other = await serveForeign(cell.url, { id: 'other::grade', handle: () => ({ success: false }) });
  await using client = await openClient(transports.http());
  const graded = await client.callTool({ name: other.tool, arguments: {} });
  expect([textOf(graded), graded.isError ?? false]).toEqual(['success: false', false]);
});
