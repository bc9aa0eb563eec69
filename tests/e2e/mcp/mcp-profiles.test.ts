/** The tools that each profile lists, their names, and their tokens. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { isFull } from '../../../src/testing/rounds.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { httpTransport, openClient, stdioTransport, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CODING = 'changes edit job list more move outline output read run sandbox search undo write'.split(' ');
const LOOK = ['changes', 'list', 'outline', 'output', 'read', 'search'];

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'one\n' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const namesAt = async (query: string) => {
  await using client = await openClient(httpTransport(cell.http, query));
  return (await client.listTools()).tools.map(({ name }) => name).toSorted();
};

test('agent.P1 the default profile lists tools with bare names, and few tokens', async () => {
  const doors = [stdioTransport({ profile: null }, '--workspace', dir.root), httpTransport(cell.http, '')];
  for (const door of doors) {
    await using client = await openClient(door);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(CODING);
    const seen = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
    const tokens = seen.reduce((sum, text) => sum + encode(text).length, 0);
    expect(tokens).toBeGreaterThan(500);
    expect(tokens).toBeLessThanOrEqual(1500);
    expect(Buffer.byteLength(client.getInstructions() ?? '')).toBeLessThanOrEqual(600);
    expect(client.getInstructions()).toContain('read, search, list, outline');
    const text = textOf(await client.callTool({ name: 'read', arguments: { paths: ['a.txt'] } }));
    expect(text).toBe('a.txt\n1\tone');
  }
});

test('agent.C23 a client gets the list before the workers are loaded, and it is the list of the live catalogue', async () => {
  await using client = await openClient(stdioTransport({ profile: null }, '--workspace', dir.root));
  const early = await client.listTools();
  await client.callTool({ name: 'list', arguments: {} });
  expect(await client.listTools()).toEqual(early);
  await using other = await openClient(stdioTransport({ profile: null }, '--workspace', dir.root));
  expect(textOf(await other.callTool({ name: 'read', arguments: { paths: ['a.txt'] } }))).toBe('a.txt\n1\tone');
});

test.runIf(isFull)('agent.C24 a start that fails says why and ends, also after its first answer', async () => {
  const badGlob = ['--workspace', dir.root, '--protect', '['];
  for (const [args, reason] of [
    [['--workspace', dir.path('none')], 'is not a directory'],
    [['--workspace', dir.root, '--preset', 'lok'], 'did you mean "look"?'],
    [badGlob, 'bad glob'],
  ] as const) {
    const ended = await runCli(['mcp', ...args]);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([2, '', expect.stringContaining(reason)]);
  }
  expect(await runCli(['mcp', '--workspace', dir.root])).toMatchObject({ code: 0, stdout: '' });

  await using client = await openClient(stdioTransport({ profile: null }, ...badGlob));
  expect((await client.listTools()).tools).toHaveLength(CODING.length);
  await expect(client.callTool({ name: 'list', arguments: {} })).rejects.toThrow(/closed/i);
});

test.runIf(isFull)(
  'agent.P1 other profiles list other tools, several may be joined, and an unknown one is refused',
  async () => {
    expect(await namesAt('?profile=look')).toEqual(LOOK);
    const coder = await namesAt('?profile=coder');
    expect(coder).toContain('coder_read_file');
    expect(coder.every((name) => name.startsWith('coder_'))).toBe(true);
    expect(await namesAt('?profile=coding,coder')).toEqual([...CODING, ...coder].toSorted());
    const all = await namesAt('?profile=all');
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((name) => CODING.includes(name))).toEqual([]);
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const refused = await fetch(`${cell.http}/mcp?profile=cding`, { method: 'POST', headers, body: '{}' });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('did you mean \\"coding\\"?'),
    ]);
    expect(await runCli(['mcp', '--workspace', dir.root, '--profile', 'cding'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "coding"?'),
    });
  },
);

test.runIf(isFull)('the command line prints the text of a reply, and its fields when asked', async () => {
  const args = ['call', 'agent::read', '--json', '{"paths": ["a.txt"]}', '--url', cell.url];
  expect(await runCli(args)).toMatchObject({ code: 0, stdout: 'a.txt\n1\tone\n' });
  const { stdout } = await runCli([...args, '--structured']);
  expect(JSON.parse(stdout)).toEqual({ files: [{ path: 'a.txt', lines: ['one'], line_from: 1, total_lines: 1 }] });
  const reply = await fetch(`${cell.http}/functions/agent/list`, { method: 'POST', body: '{}' });
  expect(await reply.json()).toEqual({ files: 1, tree: 'a.txt', truncated: false });
});
