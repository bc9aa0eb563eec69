/**
 * Attacks on what the tools of an agent may reach: `more`, profiles, `--tools` and handles of other sessions must not
 * get around the policy of the engine.
 */
import { existsSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { agentCell, tempDir, type TempDir } from '#testing';
import { httpTransport, openClient, stdioTransport, textOf } from '../../e2e/support/mcp.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'kept\n', '.env': 'SECRET=1\n' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const files = [{ path: 'x.txt', content: 'x' }];
/** Every way by which a tool could write or run, directly and through `more`. */
const ATTACKS: [tool: string, args: object][] = [
  ['write', { files }],
  ['edit', { edits: [{ path: 'a.txt', old: 'kept', new: 'lost' }] }],
  ['edit', { patch: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n' }],
  ['move', { moves: [{ from: 'a.txt' }] }],
  ['run', { command: 'touch x.txt' }],
  ['job', { id: 'j1', stop: true }],
  ['undo', {}],
  ['sandbox', { image: 'python', command: 'true', bring: ['x.txt'] }],
  ['more', { function: 'coder::create-file', args: { files } }],
  ['more', { function: 'coder::delete-file', args: { paths: ['a.txt'] } }],
  ['more', { function: 'shell::exec', args: { command: 'ls' } }],
  ['more', { function: 'shell::exec_bg', args: { script: 'touch x.txt', fence: 'workspace' } }],
  ['more', { function: 'filesystem::rm', args: { path: 'a.txt' } }],
  ['more', { function: 'sandbox::create', args: { image: 'python' } }],
  ['more', { function: 'agent::write', args: { files } }],
  ['more', { function: 'agent::more', args: { function: 'agent::write', args: { files } } }],
  ['coder_create_file', { files }],
  ['shell_exec', { command: 'ls' }],
  ['agent_write', { files }],
  ['agent::write', { files }],
];

function unharmed(): void {
  expect(readFileSync(dir.path('a.txt'), 'utf8')).toBe('kept\n');
  expect(existsSync(dir.path('x.txt'))).toBe(false);
}

test('agent.P3 profile look neither writes nor runs, whatever is called', async () => {
  const doors = [
    httpTransport(cell.http, '?profile=look'),
    httpTransport(cell.http, '?profile=look&structured=true'),
    stdioTransport({ profile: 'look' }, '--workspace', dir.root),
    stdioTransport({ profile: 'coding' }, '--workspace', dir.root, '--read-only'),
  ];
  let refused = 0;
  for (const door of doors) {
    await using client = await openClient(door);
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(textOf(await client.callTool({ name: 'read', arguments: { paths: ['a.txt'] } }))).toContain('kept');
    for (const [name, args] of ATTACKS) {
      const answer = await client.callTool({ name, arguments: { ...args } }).catch(() => ({ isError: true }));
      expect([name, args, answer.isError]).toEqual([name, args, true]);
      refused++;
    }
    unharmed();
  }
  expect(refused).toBe(ATTACKS.length * doors.length);
});

test('agent.P3 the engine itself refuses a read-only caller, also in calls that more makes', async () => {
  await using own = await agentCell({ 'a.txt': 'kept\n' });
  const reading = { name: 'reader', grants: { isReadOnly: true } };
  const tools = ATTACKS.filter(([name]) => !/[_:]/.test(name));
  for (const [name, args] of tools) {
    expect([name, await own.text(name, args, reading)]).toEqual([name, expect.stringMatching(/^forbidden: /)]);
  }
  expect(await own.text('read', { paths: ['a.txt'] }, reading)).toContain('kept');
  expect(tools.length).toBeGreaterThan(12);
});

test('agent.P4 more reaches only what the caller may call: --tools hold for it', async () => {
  await using client = await openClient(
    stdioTransport({ profile: null }, '--workspace', dir.root, '--tools', 'read,more,coder::tree'),
  );
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(['coder_tree', 'more', 'read']);
  const call = async (name: string, args: object) => textOf(await client.callTool({ name, arguments: { ...args } }));
  expect(await call('more', { function: 'coder::tree', args: { max_depth: 0 } })).toContain('root:');
  const others = ATTACKS.filter(([name]) => name === 'more');
  for (const [name, args] of others) expect(await call(name, args)).toMatch(/^forbidden: /);
  expect(await call('more', { function: 'coder::read-file', args: { path: 'a.txt' } })).toMatch(/^forbidden: /);
  unharmed();
  expect(others.length).toBeGreaterThan(7);
});

test('agent.P4 a chosen tool may make the calls that it needs, and its caller no others', async () => {
  await using client = await openClient(
    stdioTransport({ profile: null }, '--workspace', dir.root, '--tools', 'edit,more'),
  );
  const call = async (name: string, args: object) => textOf(await client.callTool({ name, arguments: { ...args } }));
  const patch = '*** Begin Patch\n*** Add File: y.txt\n+y\n*** End Patch\n';
  expect(await call('edit', { patch })).toMatch(/^change 1\ny\.txt added/);
  expect(await call('more', { function: 'shell::exec', args: { command: 'ls' } })).toMatch(/^forbidden: /);
});

test('agent.P5 handles of another session are unknown: outputs, jobs and changes', async () => {
  await using one = await openClient(httpTransport(cell.http, ''));
  await using two = await openClient(httpTransport(cell.http, ''), 'legacy', 'other');
  const call = async (client: typeof one, name: string, args: object) =>
    textOf(await client.callTool({ name, arguments: { ...args } }));
  expect(await call(one, 'write', { files: [{ path: 'mine.txt', content: 'secret\n'.repeat(5000) }] })).toMatch(
    /^change 1/,
  );
  const cat = { function: 'shell::exec', args: { command: 'cat', args: ['mine.txt'] } };
  expect(await call(one, 'more', cat)).toContain('output {"id": "o1"}');
  expect(await call(one, 'output', { id: 'o1', tail: 1 })).toContain('secret');
  for (const [name, args] of [
    ['output', { id: 'o1' }],
    ['job', { id: 'j1', stop: true }],
    ['undo', { change: 1 }],
    ['undo', {}],
  ] as const) {
    expect([name, await call(two, name, args)]).toEqual([name, expect.stringMatching(/^A224: /)]);
  }
  expect(await call(two, 'changes', {})).toMatch(/^no changes in this session/);
  expect(existsSync(dir.path('mine.txt'))).toBe(true);
});

test('agent.P6 no tool shows a protected file, by any spelling', async () => {
  await using own = await agentCell({ '.env': 'SECRET=1\n', 'sub/.env': 'SECRET=1\n', 'b.txt': 'x\n' });
  const paths = ['.env', './.env', own.dir.path('.env'), 'sub/../.env', 'sub/.env:1-1', '.env:1'];
  const replies = await Promise.all([
    ...paths.flatMap((path) => [own.text('read', { paths: [path] }), own.text('outline', { paths: [path] })]),
    own.text('search', { pattern: 'SECRET' }),
    own.text('search', { pattern: 'SECRET', path: '.env' }),
    own.text('edit', { edits: [{ path: '.env', old: 'SECRET', new: 'x' }] }),
    own.text('edit', { edits: [{ path: '**/.env', old: 'SECRET', new: 'x', all: true }] }),
    own.text('edit', { edits: [{ path: '.env', old: 'nothing', new: 'x' }] }),
    own.text('move', { moves: [{ from: '.env', to: 'open.txt' }] }),
    own.text('write', { files: [{ path: '.env', content: '' }] }),
  ]);
  expect(replies.filter((text) => /SECRET=1/.test(text))).toEqual([]);
  expect(readFileSync(own.dir.path('.env'), 'utf8')).toBe('SECRET=1\n');
  expect(existsSync(own.dir.path('open.txt'))).toBe(false);
  expect(replies.length).toBeGreaterThan(15);
});
