/** Undo through every door: HTTP and MCP as two callers, and the options of `workcell undo` and `workcell log`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { availableWorkers, parseEntries, startWorkcell, type RunningWorkcell } from '#assembly';
import { silentLog } from '#contract';
import { toToolName } from '#protocol';
import { mcpClient, tempDir, type TempDir } from '#testing';
import { runCli } from '../../../src/testing/cli.ts';

const TOKENS = { ci: 'secret of ci', lab: 'secret of the lab' };
type Name = keyof typeof TOKENS;
const bearer = (name: Name) => ({ Authorization: `Bearer ${TOKENS[name]}` });

interface Reply {
  code?: string;
  message?: string;
  redo_seq?: number;
  undone?: { seq: number }[];
  files?: { path: string; kind: string }[];
  records?: { seq: number; undone_by?: number; caller: string }[];
}
type Call = (name: string, payload: object) => Promise<Reply>;

let dir: TempDir;
let cell: RunningWorkcell;
beforeAll(async () => {
  dir = await tempDir({ a: 'former\n' });
  const workers = [{ name: 'coder' }, { name: 'filesystem' }];
  const entries = parseEntries(JSON.stringify({ workers }), availableWorkers, { workspace: dir.root });
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries, tokens: TOKENS, log: silentLog });
});
afterAll(async () => {
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
});

const read = (path: string) => (existsSync(dir.path(path)) ? readFileSync(dir.path(path), 'utf8') : undefined);

const DOORS: Record<string, (name: Name) => Promise<Call>> = {
  HTTP: async (name) => async (fn, payload) => {
    const headers = { 'Content-Type': 'application/json', ...bearer(name) };
    const init = { method: 'POST', headers, body: JSON.stringify(payload) };
    const reply = await fetch(`${cell.url.replace('ws', 'http')}/functions/coder/${fn}`, init);
    const body = (await reply.json()) as { error?: Reply };
    expect(reply.status).toBe(body.error ? 404 : 200);
    return body.error ?? (body as Reply);
  },
  async MCP(name) {
    const client = await mcpClient(cell.url, { name, version: '1' }, bearer(name));
    return async (fn, payload) => {
      const text = await client.call(toToolName(`coder::${fn}`), payload);
      return text.startsWith('{') ? (JSON.parse(text) as Reply) : { code: text.slice(0, 4), message: text };
    };
  },
};

describe.each(Object.keys(DOORS))('undo.B14 coder.P21 over %s', (door) => {
  test('a caller undoes and redoes its own change, and that of another caller only with anyone: true', async () => {
    const [ci, lab] = [await DOORS[door]!('ci'), await DOORS[door]!('lab')];
    const path = `${door}.txt`;
    await ci('create-file', { files: [{ path, content: 'agent\n' }] });
    const { records } = await ci('checkpoints', { paths: [path] });
    const { seq } = records![0]!;

    const refused = await lab('undo', { seq });
    expect(refused).toMatchObject({ code: 'C224', message: expect.stringContaining('anyone: true') as string });
    expect(read(path)).toBe('agent\n');

    expect(await ci('undo', { dry_run: true })).toMatchObject({
      undone: [{ seq }],
      files: [{ path, kind: 'deleted' }],
    });
    const { redo_seq } = await ci('undo', {});
    expect(read(path)).toBeUndefined();
    await ci('undo', { seq: redo_seq });
    expect(read(path)).toBe('agent\n');
    expect(await lab('undo', { to_seq: seq - 1, anyone: true })).toMatchObject({ undone: [{ seq: redo_seq! + 1 }] });
    expect(read(path)).toBeUndefined();
  });
});

describe('the command line', () => {
  const address = () => ['--url', cell.url, '--token', TOKENS.lab];
  const workcell = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCli([...words, ...address()]);
    return { code, said: stdout || stderr };
  };
  let ci: Call;
  let seq: number;
  beforeAll(async () => {
    ci = await DOORS.HTTP!('ci');
    for (const content of ['one\n', 'two\n', 'three\n']) {
      await ci('create-file', { files: [{ path: 'cli.txt', content, overwrite: true }] });
    }
    seq = (await ci('checkpoints', { limit: 1 })).records![0]!.seq;
  });

  test('log PATH lists the records of a path with their lines, as text and as JSON', async () => {
    const { code, said } = await workcell('log', 'cli.txt', '--limit', '1');
    expect([code, said.split('\n').slice(1)]).toEqual([0, ['    modified cli.txt', '      -two', '      +three', '']]);
    const { records } = JSON.parse((await workcell('log', 'cli.txt', '--json', '--names')).said) as Reply;
    expect(records!.map((record) => record.seq)).toEqual([seq, seq - 1, seq - 2]);
    expect((await workcell('log', 'nothing.txt')).said).toBe('No records.\n');
  });

  test('undo takes --dry-run, --seq, --steps, --json and --merge, for changes of any caller', async () => {
    const dry = await workcell('undo', '--seq', `${seq}`, '--dry-run');
    expect(dry).toEqual({ code: 0, said: `would undo ${seq} (coder::create-file)\n  modified cli.txt\n` });
    expect(read('cli.txt')).toBe('three\n');

    const undone = await workcell('undo', '--seq', `${seq}`);
    const head = `undid ${seq} (coder::create-file); workcell undo --seq ${seq + 1} redoes`;
    expect(undone).toEqual({ code: 0, said: `${head}\n  modified cli.txt\n` });
    expect(read('cli.txt')).toBe('two\n');

    const two = JSON.parse((await workcell('undo', '--steps', '2', '--json')).said) as Reply;
    expect(two.undone!.map((record) => record.seq)).toEqual([seq - 1, seq - 2]);
    expect(read('cli.txt')).toBeUndefined();

    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('');
    writeFileSync(dir.path('merged.txt'), lines);
    const ops = [{ op: 'update_lines', from_line: 3, to_line: 3, content: 'agent' }];
    await ci('update-file', { files: [{ path: 'merged.txt', ops }] });
    const person = read('merged.txt')!.replace('line 17', 'person');
    writeFileSync(dir.path('merged.txt'), person);
    expect(await workcell('undo')).toMatchObject({ code: 1, said: expect.stringContaining('C223') as string });
    expect(read('merged.txt')).toBe(person);
    expect(await workcell('undo', '--merge')).toMatchObject({ code: 0 });
    expect(read('merged.txt')).toBe(lines.replace('line 17', 'person'));
  });
});
