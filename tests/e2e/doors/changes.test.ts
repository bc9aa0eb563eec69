/** Changes of a whole server: as root and as an ordinary user, over HTTP and MCP, and after the server was killed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';

import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';

import { mcpClient, NOBODY_UID, rounds, tempDir, type TempDir } from '#testing';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { BUILT, openClient, textOf } from '../support/mcp.ts';

const USERS: [string, number | undefined][] = [
  ['the user of the tests', undefined],
  ...(process.geteuid?.() === 0 ? [['an ordinary user', NOBODY_UID] as [string, number]] : []),
];

async function place(uid: number | undefined): Promise<TempDir> {
  const dir = await tempDir({ 'ws/a.txt': 'old\n', 'ws/d/e/f.txt': 'deep\n', 'ws/.env': 'SECRET', 'home/x': '' });
  mkdirSync(dir.path('home/.cache'));
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, dir.root]);
  execFileSync('chmod', ['755', dir.root]);
  return dir;
}

const start = (dir: TempDir, uid: number | undefined, words: string[] = ['--preset', 'coding']) =>
  startCli(['start', '--port', '0', '--workspace', dir.path('ws'), ...words], {
    uid,
    home: dir.path('home'),
    cwd: dir.path('ws'),
    env: { WORKCELL_PRESET: '' },
  });

async function call(http: string, id: string, payload: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${http}/functions/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(payload),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

describe.skipIf(process.platform !== 'linux')('changes', () => {
  // A smoke test has the user with fewer rights.
  test.each(USERS.slice(-rounds(1, 2, 2)))(
    'change.A16 files and commands of a change, as %s, also after SIGKILL',
    async (_, uid) => {
      await using dir = await place(uid);
      const ws = realpathSync(dir.path('ws'));
      const server = await start(dir, uid);
      const begun = await call(server.http, 'change/begin', { name: 'mine' });
      expect(begun.body).toMatchObject({ change: 'mine', outside: 'private', workspace: ws });
      const bound = { 'Workcell-Change': 'mine' };
      await call(
        server.http,
        'coder/create-file',
        { files: [{ path: 'a.txt', content: 'new\n', overwrite: true }] },
        bound,
      );
      const script = 'cat a.txt; echo made > made.txt; mv d moved; cat moved/e/f.txt; cat .env; id -u; touch /etc/x';
      const ran = await call(server.http, 'shell/exec', { script }, bound);
      expect(ran.body).toMatchObject({ stdout: `new\ndeep\n${uid ?? process.getuid!()}\n` });
      await call(server.http, 'coder/create-file', {
        files: [{ path: 'd/e/f.txt', content: 'theirs', overwrite: true }],
      });
      expect(await call(server.http, 'coder/read-file', { path: 'moved/e/f.txt' }, bound)).toMatchObject({
        body: { content: 'deep\n' },
      });
      await server.stop('SIGKILL');

      await using again = await start(dir, uid);
      expect(await call(again.http, 'coder/read-file', { path: 'made.txt', change: 'mine' })).toMatchObject({
        body: { content: 'made\n' },
      });
      expect(await call(again.http, 'coder/list-folder', { path: '.', change: 'mine' })).toMatchObject({
        body: { entries: ['.env', 'a.txt', 'made.txt', 'moved'].map((name) => ({ name })) },
      });
      expect(readdirSync(ws).sort()).toEqual(['.env', 'a.txt', 'd']);
      expect(readFileSync(`${ws}/a.txt`, 'utf8')).toBe('old\n');
      expect(await call(again.http, 'coder/read-file', { path: 'a.txt', change: 'other' }, bound)).toMatchObject({
        status: 400,
      });
      expect((await call(again.http, 'change/discard', {}, bound)).body).toMatchObject({ discarded: 'mine' });
      expect((await call(again.http, 'change/list', {})).body).toEqual({ changes: [] });
      expect(readdirSync(ws).sort()).toEqual(['.env', 'a.txt', 'd']);
    },
  );

  test('change.A19 an MCP session is bound by --change, and by a header', async () => {
    await using dir = await place(undefined);
    const ws = dir.path('ws');
    const env = { PATH: process.env.PATH!, HOME: dir.path('home') };
    const words = [BUILT, 'mcp', '--workspace', ws, '--preset', 'coding', '--change', 'new'];
    const client = await openClient(
      new StdioClientTransport({ command: process.execPath, args: words, env, stderr: 'ignore' }),
    );
    const tool = async (name: string, args: object) => textOf(await client.callTool({ name, arguments: { ...args } }));
    await tool('write', { files: [{ path: 'a.txt', content: 'by the model\n' }] });
    expect(await tool('read', { paths: ['a.txt'] })).toContain('by the model');
    expect(await tool('run', { command: 'cat a.txt; echo more > b.txt' })).toContain('by the model');
    expect(await tool('list', {})).toContain('b.txt');
    await tool('more', { function: 'coder::create-file', args: { files: [{ path: 'c.txt', content: 'x' }] } });
    const other = await tool('more', { function: 'coder::read-file', args: { path: 'a.txt', change: 'another' } });
    expect(other).toContain('bound to the change');
    await client.close();
    expect(readdirSync(ws).sort()).toEqual(['.env', 'a.txt', 'd']);
    expect(readFileSync(`${ws}/a.txt`, 'utf8')).toBe('old\n');

    await using server = await start(dir, undefined);
    const { body } = await call(server.http, 'change/list', {});
    const [left] = body.changes as { change: string; files_changed: number }[];
    expect(left).toMatchObject({ files_changed: 3 });
    const http = await mcpClient(server.url, { name: 'test', version: '1' }, { 'Workcell-Change': left!.change });
    expect(JSON.stringify(await http.call('coder_read_file', { path: 'c.txt' }))).toContain('x');
    expect(JSON.stringify(await http.call('coder_read_file', { path: 'c.txt', change: 'another' }))).toContain(
      'bound to',
    );
    const missing = await runCli(['mcp', '--workspace', ws, '--preset', 'iii', '--change', 'nope'], {
      home: dir.path('home'),
    });
    expect(missing.stderr).toContain('there is no change nope');
  });

  test('change.A20 the preset review runs commands on a copy that is thrown away', async () => {
    await using dir = await place(undefined);
    await using server = await start(dir, undefined, ['--preset', 'review']);
    const ran = await call(server.http, 'shell/exec', { script: 'echo new > a.txt; cat a.txt' });
    expect(ran.body).toMatchObject({ exit_code: 0, stdout: 'new\n' });
    writeFileSync(dir.path('ws/b.txt'), 'x');
    for (const id of ['coder/create-file', 'change/begin', 'filesystem/write']) {
      expect((await call(server.http, id, { path: 'x' })).status).toBeGreaterThanOrEqual(403);
    }
    expect(readFileSync(dir.path('ws/a.txt'), 'utf8')).toBe('old\n');
    expect((await call(server.http, 'change/list', {})).body).toEqual({ changes: [] });
  });
});
