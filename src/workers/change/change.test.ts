/** Changes with real layers: files, commands, jobs, pins, locks and limits. */
import { appendFileSync, closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { mountLayer } from '#fence';
import { LayerError, Layers, layersOf } from '#host';
import { changeCell, type ChangeCell } from '#testing';

interface Ran {
  exit_code: number;
  stdout: string;
  stderr: string;
}

const read = async (cell: ChangeCell, path: string, change?: string) =>
  (await cell.call<{ content: string }>('coder::read-file', { path, change })).content;
const write = (cell: ChangeCell, path: string, content: string, change?: string) =>
  cell.call('coder::create-file', { change, files: [{ path, content, overwrite: true }] });
const layersIn = (cell: ChangeCell) => layersOf(cell.workspace, { state_dir: cell.dir.path('state') })!;

describe.skipIf(process.platform !== 'linux')('a change', () => {
  test('change.A1 an edit is seen by commands in the change, and not in the workspace', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' });
    const change = await cell.begin();
    await cell.call('coder::update-file', {
      change,
      files: [{ path: 'a.txt', ops: [{ op: 'insert', at_line: 1, content: 'new' }] }],
    });
    expect(await cell.sh(change, 'cat a.txt')).toBe('new\nold\n');
    expect(await read(cell, 'a.txt', change)).toBe('new\nold\n');
    expect(await read(cell, 'a.txt')).toBe('old\n');
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('old\n');
  });

  test('change.A2 a file that a command makes or removes is so for the file tools, in the change only', async () => {
    await using cell = await changeCell({ 'd/gone.txt': 'x', 'd/kept.txt': 'word\n' });
    const change = await cell.begin();
    await cell.sh(change, 'echo made word > d/made.txt; rm d/gone.txt');
    expect(await read(cell, 'd/made.txt', change)).toBe('made word\n');
    expect(await cell.failure('coder::read-file', { path: 'd/gone.txt', change })).toMatchObject({ code: 'C211' });
    const found = await cell.call<{ content_matches: { path: string }[] }>('coder::search', { query: 'word', change });
    expect(found.content_matches.map(({ path }) => path)).toEqual(['d/kept.txt', 'd/made.txt']);
    const listed = await cell.call<{ data: { entries: { name: string }[] } }>('filesystem::ls', {
      path: cell.at('d'),
      change,
    });
    expect(listed.data.entries.map(({ name }) => name)).toEqual(['kept.txt', 'made.txt']);
    const grepped = await cell.call<{ matches: { path: string }[] }>('shell::fs::grep', {
      path: cell.workspace,
      pattern: 'm.de',
      change,
    });
    expect(grepped.matches.map(({ path }) => path)).toEqual([cell.at('d/made.txt')]);
    expect(readdirSync(cell.at('d'))).toEqual(['gone.txt', 'kept.txt']);
  });

  test('change.A3 a job in a change serves its files, and discard ends it', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' });
    const change = await cell.begin();
    await write(cell, 'a.txt', 'new\n', change);
    const served =
      'const s = require("node:http").createServer((_, r) => fs.createReadStream("a.txt").pipe(r)).listen(0, "127.0.0.1", () => console.log("port " + s.address().port))';
    const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', {
      change,
      command: process.execPath,
      args: ['-e', served],
    });
    const until = { until: { pattern: String.raw`port \d+` }, wait_ms: 60_000 };
    const { matched } = await cell.call<{ matched: { line: string } }>('shell::output', { job_id, ...until });
    const url = `http://127.0.0.1:${matched.line.split(' ')[1]}/`;
    expect(await fetch(url).then((reply) => reply.text())).toBe('new\n');
    await cell.sh(change, 'echo newer > a.txt');
    expect(await fetch(url).then((reply) => reply.text())).toBe('newer\n');
    const seen = () => cell.call<{ stdout: string }>('shell::status', { job_id }).then((job) => JSON.stringify(job));
    const { changes } = await cell.call<{ changes: { busy_commands: number; open_in: string }[] }>('change::list');
    expect(changes).toMatchObject([{ change, busy_commands: 1, open_in: 'host' }]);
    // Refused while it runs, and nothing is lost by that.
    const busy = layersIn(cell)
      .find(change)
      .alone(async () => 1);
    await expect(busy).rejects.toMatchObject({ reason: 'busy' });
    expect(await cell.call('change::discard', { change })).toMatchObject({ discarded: change, files: 1 });
    await expect.poll(seen).not.toContain('"running"');
    expect(await read(cell, 'a.txt')).toBe('old\n');
  });

  test('change.A17 where the layer cannot be mounted nothing is written, and the error gives the reason', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' });
    const mount = async () => {
      throw new LayerError('unavailable', 'changes are not available here: mount: Operation not permitted');
    };
    const limits = { maxOpen: 4, maxBytes: 1e9, idleMs: 1e9 };
    const layers = new Layers(cell.workspace, { stateDir: cell.dir.path('state'), limits, mount });
    const begun = layers.begin({ name: 'x', outside: 'private', network: 'host', note: '' });
    await expect(begun).rejects.toMatchObject({ reason: 'unavailable' });
    expect(layers.store.names()).toEqual([]);
    await layers.close();
    // This server's own are gone with it: a call is refused and not made in the workspace.
    const refused = await cell.failure('coder::create-file', {
      change: 'x',
      files: [{ path: 'a.txt', content: 'y', overwrite: true }],
    });
    expect(refused).toMatchObject({ code: 'C230' });
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('old\n');
  });

  test('change.A20 with outside: private a command writes nothing outside, and protected files are closed', async () => {
    await using cell = await changeCell({ 'a.txt': 'x', '.env': 'SECRET' }, { outside: 'private' });
    const change = await cell.begin();
    const script = `echo x > ${cell.dir.path('out')}; echo x > "$HOME/out"; echo x > /etc/workcell-out; cat .env; echo y > a.txt; echo z > /tmp/workcell-out; cat a.txt`;
    const ran = await cell.call<Ran>('shell::exec', { change, script });
    expect(ran.stdout).toBe('y\n');
    expect(ran.stderr).toContain('/etc/workcell-out');
    for (const path of [cell.dir.path('out'), '/etc/workcell-out', '/tmp/workcell-out'])
      expect(existsSync(path)).toBe(false);
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('x');
    expect(await cell.failure('change::begin', { outside: 'as-is' })).toMatchObject({ code: 'W210' });
  });

  test('change.A21 a change outlives its mount: after a restart, and after its fence was killed', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' }, { outside: 'private' });
    const change = await cell.begin();
    await write(cell, 'b.txt', 'made', change);
    await layersIn(cell).find(change).release();
    expect(await read(cell, 'b.txt', change)).toBe('made');
    await cell.restart();
    expect(await read(cell, 'b.txt', change)).toBe('made');
    expect((await cell.call<Ran>('shell::exec', { change, script: 'cat b.txt' })).stdout).toBe('made');
    // The only process that a change has is the one that keeps the network of its fence.
    for (const pid of launchersOf(process.pid)) process.kill(pid, 'SIGKILL');
    await expect
      .poll(
        async () => (await cell.call<Ran>('shell::exec', { change, script: 'cat b.txt; echo more >> b.txt' })).stdout,
      )
      .toContain('made');
    expect(await read(cell, 'b.txt', change)).toContain('mademore\n');
  });

  test('change.A22 a change is open in one server at a time', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' });
    const change = await cell.begin();
    const mine = layersIn(cell);
    const limits = { maxOpen: 4, maxBytes: 1e9, idleMs: 1e9 };
    const other = new Layers(cell.workspace, { stateDir: cell.dir.path('state'), limits, mount: mountLayer });
    await expect(other.enter(change)).rejects.toMatchObject({ reason: 'elsewhere' });
    await expect(other.discard(change)).rejects.toMatchObject({ reason: 'elsewhere' });
    expect(await other.list()).toMatchObject([{ name: change, isOpen: true }]);
    await mine.find(change).release();
    (await other.enter(change))[Symbol.dispose]();
    await expect(mine.enter(change)).rejects.toMatchObject({ reason: 'elsewhere' });
    await other.close();
    (await mine.enter(change))[Symbol.dispose]();
  });

  test('change.A23 a change is not committed while a command runs in it', async () => {
    await using cell = await changeCell({ 'a.txt': 'old\n' });
    const change = await cell.begin();
    const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', {
      change,
      command: 'sh',
      args: ['-c', 'echo new > a.txt; exec sleep 600'],
    });
    await expect.poll(() => read(cell, 'a.txt', change)).toBe('new\n');
    expect(await cell.failure('change::commit', { change })).toMatchObject({
      code: 'W212',
      message: expect.stringContaining(`1 command runs in the change ${change}`),
    });
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('old\n');
    await cell.call('shell::kill', { job_id });
    await layersIn(cell).find(change).commandsEnded();
    expect(await cell.call('change::commit', { change })).toMatchObject({ committed: change });
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('new\n');
  });

  test('change.A24 commands that ran in a change and hosts that they asked for are listed, also after a restart', async () => {
    const shell = { fence_network: 'egress', fence_egress: { allow: [] } };
    await using cell = await changeCell({ 'a.txt': 'x' }, { outside: 'private', shell });
    const change = await cell.begin();
    await cell.call('shell::exec', { change, script: 'curl -sS -m 20 http://example.com/ http://example.com/2 >&2' });
    await cell.call('shell::exec', { change, command: '/bin/cat', args: ['a.txt'] });
    await cell.call('shell::exec', { command: '/bin/true' });
    await cell.restart();
    const { commands, hosts } = await cell.call<{ commands: { command: string }[]; hosts: object[] }>('change::diff', {
      change,
    });
    expect(commands.map(({ command }) => command)).toEqual([
      '/bin/sh -c curl -sS -m 20 http://example.com/ http://example.com/2 >&2',
      '/bin/cat a.txt',
    ]);
    expect(hosts).toEqual([{ host: 'example.com:80', verdict: 'refused' }]);
  });

  test('change.A25 after a refresh only open files keep their former content', async () => {
    await using cell = await changeCell({ 'd/opened': 'old', 'd/replaced': 'old', 'd/gone': 'old' });
    const change = await cell.begin();
    using lease = await layersIn(cell).enter(change);
    const at = (name: string) => `${lease.layer.view}/d/${name}`;
    for (const name of ['opened', 'replaced', 'gone', 'late']) existsSync(at(name));
    const fd = openSync(at('opened'), 'r');
    // As another program does it, which pins nothing.
    for (const name of ['opened', 'replaced'])
      await cell.call('shell::exec', { command: 'sh', args: ['-c', `echo new > t && mv t d/${name}`] });
    await cell.call('shell::exec', { command: 'sh', args: ['-c', 'rm d/gone; echo new > d/late'] });
    await lease.layer.mounted.refresh();
    expect(['opened', 'replaced', 'late'].map((name) => readFileSync(at(name), 'utf8'))).toEqual([
      'old',
      'new\n',
      'new\n',
    ]);
    expect(existsSync(at('gone'))).toBe(false);
    closeSync(fd);
    await lease.layer.mounted.refresh();
    expect(readFileSync(at('opened'), 'utf8')).toBe('new\n');
  });

  test('calls of others change nothing in a change: edits, new files, removed and renamed folders', async () => {
    await using cell = await changeCell({
      'd/a': 'old',
      'd/b': 'old',
      'tree/x/y': 'old',
      'tree/z': 'old',
      'moved/m': 'old',
    });
    const change = await cell.begin();
    await cell.sh(change, 'cat d/a; ls tree/x moved');
    await write(cell, 'd/a', 'theirs');
    await write(cell, 'd/new/deep', 'theirs');
    await cell.call('coder::delete-file', { paths: ['tree', 'd/b'], recursive: true });
    await cell.call('shell::fs::mv', { src: cell.at('moved'), dst: cell.at('elsewhere'), overwrite: false });
    const found = await cell.sh(change, 'find . -type f | sort; cat d/a d/b tree/x/y tree/z moved/m');
    expect(found).toBe('./d/a\n./d/b\n./moved/m\n./tree/x/y\n./tree/z\noldoldoldoldold');
    expect(await read(cell, 'd/a', change)).toBe('old');
    expect(readdirSync(layersIn(cell).find(change).upper)).toEqual([]);
    const { changes } = await cell.call<{ changes: { moved_underneath: number }[] }>('change::list');
    expect(changes).toMatchObject([{ files_changed: 0, moved_underneath: 0 }]);
    writeFileSync(cell.at('outside.txt'), 'by an editor');
    expect(await cell.call('change::list')).toMatchObject({ changes: [{ moved_underneath: 1 }] });
  });

  test('undo in a change takes back calls in it', async () => {
    await using cell = await changeCell({ 'a.txt': 'old' });
    const change = await cell.begin();
    await write(cell, 'a.txt', 'new', change);
    await cell.call('coder::undo', { change });
    expect(await read(cell, 'a.txt', change)).toBe('old');
    expect(await cell.failure('coder::undo')).toMatchObject({ code: 'C224' });
  });

  test('fence: change without a change throws away what a command changed', async () => {
    await using cell = await changeCell({ 'a.txt': 'old' }, { shell: { fence: 'change' } });
    const ran = await cell.call<Ran>('shell::exec', { script: 'echo new > a.txt; cat a.txt' });
    expect(ran).toMatchObject({ exit_code: 0, stdout: 'new\n' });
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('old');
    expect(await cell.failure('shell::exec', { script: 'true', fence: 'workspace' })).toMatchObject({ code: 'S210' });
    const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', { script: 'echo new > a.txt; cat a.txt' });
    await expect
      .poll(() => cell.call('shell::status', { job_id }).then((job) => JSON.stringify(job)))
      .toContain('finished');
    await expect.poll(() => cell.call('change::list')).toEqual({ changes: [] });
    const change = await cell.begin();
    await cell.call('shell::exec', { script: 'echo new > a.txt', change });
    expect(await read(cell, 'a.txt', change)).toBe('new\n');
  });

  test('change.A19 a bound session works in its change, and cannot name another', async () => {
    await using cell = await changeCell({ 'a.txt': 'old' });
    const [mine, other] = [await cell.begin(), await cell.begin()];
    const bound = { metadata: { change: mine } };
    await cell.call('coder::create-file', { files: [{ path: 'a.txt', content: 'new', overwrite: true }] }, bound);
    const ran = await cell.call<Ran>('shell::exec', { command: 'cat', args: ['a.txt'] }, bound);
    expect(ran.stdout).toBe('new');
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('old');
    for (const [id, request] of [
      ['coder::read-file', { path: 'a.txt' }],
      ['shell::exec', { command: 'ls' }],
      ['change::discard', {}],
    ] as const) {
      const refused = cell.call(id, { ...request, change: other }, bound);
      await expect(refused).rejects.toThrow(`this session is bound to the change ${mine}`);
    }
    await cell.call('change::discard', {}, bound);
    await expect(cell.call('coder::read-file', { path: 'a.txt' }, bound)).rejects.toMatchObject({ code: 'C230' });
  });
});

/** Processes of the launcher below a process. */
function launchersOf(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('\0hold\0'));
}

test.skipIf(process.platform !== 'linux')('the journal of a change is not that of the workspace', async () => {
  await using cell = await changeCell({ a: 'x' });
  const change = await cell.begin();
  await cell.call('coder::apply-patch', {
    change,
    patch: '*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n',
  });
  appendFileSync(cell.at('a'), '');
  expect(await cell.call('coder::checkpoints')).toMatchObject({ records: [] });
});
