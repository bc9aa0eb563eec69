/** The commands that call a running engine, and those that only read. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { serveForeign } from '../support/foreign-worker.ts';
import { freePort } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\n', '.env': 'SECRET=1', 'sub/b.txt': '' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const run = (...args: string[]) => runCli(args, { env: { III_URL: cell.url } });
const json = (text: string) => JSON.parse(text) as unknown;

describe.concurrent('call', () => {
  test.each([
    ['pairs', ['call', 'coder::read-file', 'path=a.txt'], { path: 'a.txt', content: 'hello\n', is_utf8: true }],
    [
      '--json',
      ['call', 'coder::list-folder', '--json', '{"path": "sub", "page_size": 1}'],
      { path: 'sub', page_size: 1, total: 1 },
    ],
    [
      'pairs over --json',
      ['call', 'coder::list-folder', 'page_size=2', '--json', '{"page_size": 1}'],
      { page_size: 2, entries: [{ name: '.env' }, { name: 'a.txt' }] },
    ],
    ['its other name', ['trigger', 'coder::read-file', 'path=a.txt'], { content: 'hello\n' }],
  ])('prints the reply as JSON, with %s', async (_, args, reply) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(json(stdout)).toMatchObject(reply);
  });

  test.each([
    ['a failure', ['coder::read-file', 'path=.env'], { code: 'C211', message: '.env does not exist or is protected' }],
    ['a bad request', ['coder::read-file'], { code: 'C210', message: 'missing field `path`' }],
    [
      'an unknown function',
      ['coder::readfile'],
      { code: 'function_not_found', message: 'Function coder::readfile not found (did you mean "coder::read-file"?)' },
    ],
  ])('prints %s as JSON on standard error and exits 1', async (_, args, failure) => {
    const { code, stdout, stderr } = await run('call', ...args);
    expect({ code, stdout, failure: json(stderr) }).toEqual({ code: 1, stdout: '', failure });
  });

  test.each([
    [
      'a function that fails in its reply',
      ['filesystem::read', 'path=/none'],
      1,
      { success: false, error: "Path '/none' is outside allowed paths", metadata: { code: 'F215' } },
    ],
    [
      'a batch in which one failed',
      ['coder::create-file', '--json', '{"files": [{"path": "a.txt", "content": ""}]}'],
      0,
      { results: [{ path: 'a.txt', success: false }] },
    ],
  ])('prints the reply of %s, and exits by whether the call failed', async (_, args, exitCode, reply) => {
    const { code, stdout, stderr } = await run('call', ...args);
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: '' });
    expect(json(stdout)).toMatchObject(reply);
  });

  test('exits 0 when `success: false` is the answer of a function that does not fail that way', async () => {
    await using other = await serveForeign(cell.url, { id: 'other::grade', handle: () => ({ success: false }) });
    expect(other.tool).toBe('other_grade');
    expect(await run('call', 'other::grade')).toEqual({ code: 0, stdout: '{\n  "success": false\n}\n', stderr: '' });
  });

  test.each([
    [
      'a word that is not a pair',
      ['coder::read-file', 'a.txt'],
      '"a.txt" is not a key=value pair; use --json for a whole request',
    ],
    [
      'an invalid address',
      ['x::y', '--url', 'localhost'],
      '"localhost" is not an engine address; expected for example ws://127.0.0.1:49134',
    ],
  ])('refuses %s and exits 2', async (_, args, message) => {
    const { code, stdout, stderr } = await run('call', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.startsWith(`Error: ${message}`)).toBe(true);
  });

  test('two at once are two callers, each by its own process', async () => {
    await Promise.all([run('call', 'coder::tree', 'path=sub'), run('call', 'coder::tree', 'path=sub')]);
    const { ended } = json((await run('call', 'engine::calls::list')).stdout) as {
      ended: { function_id: string; caller: string; principal: { kind: string } }[];
    };
    const trees = ended.filter(({ function_id }) => function_id === 'coder::tree');
    const callers = trees.map(({ principal, caller }) => `${principal.kind} ${caller}`);
    expect(callers).toEqual([0, 1].map(() => expect.stringMatching(/^local workcell-cli:\d+$/)));
    expect(new Set(callers).size).toBe(2);
  });

  test('without an engine says what to do and exits 3', async () => {
    const url = `ws://127.0.0.1:${await freePort()}`;
    const stderr = `Error: cannot reach ${url}: ECONNREFUSED. Is it running? Start one with: workcell start\n`;
    const attempts = [['call', 'x::y'], ['functions'], ['worker', 'run', 'coder']].map((words) =>
      runCli([...words, '--url', url]),
    );
    for (const attempt of await Promise.all(attempts)) expect(attempt).toEqual({ code: 3, stdout: '', stderr });
  });

  test('shows the fields of a function with --help', async () => {
    const { code, stdout } = await run('call', 'coder::list-folder', '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^coder::list-folder: \S/);
    expect(stdout).toContain('\n  page=<uint32> (default 1)\n');
    expect(stdout).toMatch(/\nErrors:\n {2}C210: /);
    expect(await run('call', 'coder::none', '--help')).toMatchObject({ code: 1, stdout: '' });
  });
});

describe.concurrent('functions', () => {
  test('is a table for people', async () => {
    const { code, stdout } = await run('functions');
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect([code, head.split(/\s+/)]).toEqual([0, ['FUNCTION', 'EFFECT', 'WORKER', 'SUMMARY']]);
    const widths = head.search(/EFFECT/);
    expect(rows.map((row) => row.slice(0, widths).trim())).toEqual(
      expect.arrayContaining(['coder::list-folder', 'coder::read-file']),
    );
    expect(rows.filter((row) => row.startsWith('engine::'))).toEqual([]);
  });

  test('is the catalogue for programs, by prefix and with internals if asked', async () => {
    const listed = async (...args: string[]) =>
      json((await run('functions', '--json', ...args)).stdout) as { id: string; request: unknown }[];
    const [some, all] = await Promise.all([listed('coder::read'), listed('--all')]);
    expect(some).toMatchObject([
      { id: 'coder::read-file', worker: 'coder', effect: 'read', request: { required: ['path'] } },
    ]);
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(['coder::read-file', 'engine::functions::list']));
  });

  test('says so when there are none', async () => {
    expect(await run('functions', 'nothing::')).toEqual({
      code: 0,
      stdout: 'No functions. Is a worker connected?\n',
      stderr: '',
    });
  });
});

describe.concurrent('help', () => {
  test.each([
    'start',
    'call',
    'functions',
    'exec',
    'log',
    'undo',
    'ps',
    'status',
    'stop',
    'jobs list',
    'jobs status',
    'jobs logs',
    'jobs attach',
    'jobs kill',
    'sandbox shell',
    'sandbox jobs',
    'worker run',
    'worker add',
    'config print',
    'doctor',
    'setup',
    'completion',
  ])('of %s', async (name) => {
    const { code, stdout, stderr } = await run(...name.split(' '), '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`\nUsage: workcell ${name}`);
  });

  test('asked for in any way', async () => {
    const [short, word] = await Promise.all([run('worker', 'run', '-h'), run('help', 'worker', 'run')]);
    expect(short).toMatchObject({ code: 0, stdout: expect.stringContaining('\nUsage: workcell worker run <name>') });
    expect(word).toEqual(short);
  });

  test('the version', async () => {
    expect(await run('--version')).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' });
  });

  test.each([
    [['strat'], 'no command "strat" (did you mean "start"?); see workcell --help'],
    [['worker'], 'there is: workcell worker run, workcell worker add'],
    [['worker', 'ad'], 'no "worker ad"; there is: workcell worker run, workcell worker add'],
  ])('%j gets what there is', async (words, message) => {
    expect(await run(...words)).toEqual({ code: 2, stdout: '', stderr: `Error: ${message}\n` });
  });
});

describe.concurrent('config print', () => {
  test('shows what start would run with, as YAML and as JSON', async () => {
    const [yaml, asJson] = await Promise.all([
      runCli(['config', 'print'], { cwd: dir.root }),
      runCli(['config', 'print', '--json', '--workspace', dir.root]),
    ]);
    expect(yaml).toMatchObject({ code: 0, stderr: '' });
    const shown = parse(yaml.stdout) as { workers: { name: string; config: object }[] };
    expect(shown.workers.find(({ name }) => name === 'coder')?.config).toMatchObject({
      base_path: dir.root,
      max_read_bytes: 10_485_760,
    });
    expect(json(asJson.stdout)).toEqual(shown);
  });
});
