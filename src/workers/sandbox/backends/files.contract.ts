/** Contract tests of files in a machine, as the agent reads and writes them. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { rounds } from '#testing';
import type { Subject } from './backend.contract.ts';
import { collect, scope, sharedMachine, startMachine, type TestMachine } from './machine.contract.ts';

const LARGE_MIB = rounds(8, 64, 1024);

async function* pieces(...list: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

async function bytesOf(machine: TestMachine, path: string): Promise<Buffer> {
  const { bytes } = await machine.files.read(path, scope());
  return Buffer.concat(await collect(bytes));
}

export function fileContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const start = () => startMachine(subject().backend, subject().shape, slowness());
  const shared = sharedMachine(start);
  const write = (machine: TestMachine, path: string, text: string, options = {}) =>
    machine.files.write(path, pieces(text), { parents: false, ...options }, scope());

  test('a file that is written is read back, with its mode', async () => {
    const machine = await shared();
    expect(await write(machine, '/tmp/f', 'one\ntwo\n', { mode: 0o640 })).toBe(8);
    expect((await bytesOf(machine, '/tmp/f')).toString()).toBe('one\ntwo\n');
    expect((await machine.sh('stat -c "%a %U" /tmp/f; ls -A /tmp')).stdout).toBe('640 root\nf');
  });

  test('an empty file and one of odd bytes are what they are', async () => {
    const machine = await shared();
    const odd = Buffer.from([0, 255, 254, 10, 13]);
    await machine.files.write('/tmp/odd', pieces(odd), { parents: false }, scope());
    await machine.files.write('/tmp/empty', pieces(), { parents: false }, scope());
    expect([await bytesOf(machine, '/tmp/odd'), await bytesOf(machine, '/tmp/empty')]).toEqual([odd, Buffer.alloc(0)]);
  });

  test('a file that is replaced keeps its mode, and a link to it stays', async () => {
    const machine = await shared();
    await machine.sh('echo old > /tmp/f; chmod 750 /tmp/f; ln -s f /tmp/l');
    await write(machine, '/tmp/l', 'new');
    expect((await machine.sh('cat /tmp/f; stat -c " %a" /tmp/f; readlink /tmp/l')).stdout).toBe('new 750\nf');
  });

  test('a large file goes in and out whole while a command runs', async () => {
    const { backend, shape } = subject();
    // Uses the given shape for few rounds: another shape costs a virtual machine another boot.
    const diskMb = Math.max(shape.diskMb, LARGE_MIB * 2);
    await using machine = await startMachine(backend, { ...shape, diskMb }, slowness());
    const block = randomBytes(2 ** 20);
    const sent = createHash('sha256');
    const source = async function* () {
      for (let i = 0; i < LARGE_MIB; i++) {
        block.writeUInt32LE(i);
        const copy = Buffer.from(block);
        sent.update(copy);
        yield copy;
      }
    };
    const busy = machine.sh('while [ ! -e /tmp/stop ]; do echo x; done | wc -l', { timeoutMs: 600_000 });
    expect(await machine.files.write('/tmp/large', source(), { parents: false }, scope())).toBe(LARGE_MIB * 2 ** 20);

    const received = createHash('sha256');
    const { bytes } = await machine.files.read('/tmp/large', scope());
    for await (const piece of bytes) received.update(piece);
    await machine.sh('touch /tmp/stop');
    expect((await busy).exitCode).toBe(0);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
  }, 600_000);

  test('a slow reader holds up no other', async () => {
    const machine = await shared();
    await machine.sh('head -c 8388608 /dev/zero > /tmp/large');
    const { bytes, close } = await machine.files.read('/tmp/large', scope());
    const first = await bytes.next();
    await passed(200);
    expect((await machine.sh('echo meanwhile')).stdout).toBe('meanwhile');
    let length = first.value!.length;
    for await (const piece of bytes) length += piece.length;
    close();
    expect(length).toBe(8_388_608);
  });

  test('a reader that stops leaves nothing running', async () => {
    await using machine = await start();
    await machine.sh('head -c 8388608 /dev/zero > /tmp/large');
    const processes = async () => Number((await machine.sh('ps | wc -l')).stdout);
    // On a busy host this may count a command before it that is just ending.
    const before = await processes();
    // The agent is the same program on every backend.
    const reads = rounds(20, 130, 130);
    for (let i = 0; i < reads; i++) {
      const { bytes, close } = await machine.files.read('/tmp/large', scope());
      await bytes.next();
      close();
    }
    await expect.poll(processes).toBeLessThanOrEqual(before);
  });

  test('a write that is cancelled leaves neither file nor draft', async () => {
    const machine = await shared();
    const wanted = new AbortController();
    const endless = async function* () {
      for (;;) {
        yield Buffer.alloc(1000);
        await passed(10);
      }
    };
    const writing = machine.files.write('/tmp/never', endless(), { parents: false }, { signal: wanted.signal });
    const names = async () => (await machine.sh('ls -A /tmp')).stdout;
    await expect.poll(names).toMatch(/^\.workcell-/);
    wanted.abort(new Error('enough'));
    await expect(writing).rejects.toThrow('enough');
    await expect.poll(names).toBe('');
  });

  test.each([
    ['writing into a directory that is not there', (m: TestMachine) => write(m, '/no/f', 'x'), 'ENOENT', 'parent'],
    ['writing below a file', (m: TestMachine) => write(m, '/image-file/f', 'x'), 'ENOTDIR', 'parent'],
    ['writing over a directory', (m: TestMachine) => write(m, '/home', 'x'), 'EISDIR', 'path'],
    ['reading what is not there', (m: TestMachine) => m.files.read('/nothing', scope()), 'ENOENT', 'path'],
    ['reading a directory', (m: TestMachine) => m.files.read('/home', scope()), 'EISDIR', 'path'],
    ['reading a FIFO', (m: TestMachine) => m.files.read('/tmp/fifo', scope()), 'ENXIO', 'path'],
    ['reading a device', (m: TestMachine) => m.files.read('/dev/zero', scope()), 'ENXIO', 'path'],
    ['listing a file', (m: TestMachine) => collect(m.files.list('/image-file', scope())), 'ENOTDIR', 'path'],
    ['a path without an end', (m: TestMachine) => m.files.stat('x'.repeat(300), scope()), 'ENAMETOOLONG', 'path'],
    ['an empty path', (m: TestMachine) => m.files.stat('', scope()), 'ENOENT', 'path'],
    [
      'removing what is not there',
      (m: TestMachine) => m.files.remove('/nothing', { recursive: true, ...scope() }),
      'ENOENT',
      'path',
    ],
    [
      'removing a full directory',
      (m: TestMachine) => m.files.remove('/tmp/full', { recursive: false, ...scope() }),
      'ENOTEMPTY',
      'path',
    ],
    [
      'making what is there',
      (m: TestMachine) => m.files.mkdir('/home', { mode: 0o755, parents: false, ...scope() }),
      'EEXIST',
      'path',
    ],
    [
      'making below what is not there',
      (m: TestMachine) => m.files.mkdir('/x/y', { mode: 0o755, parents: false, ...scope() }),
      'ENOENT',
      'parent',
    ],
    [
      'moving what is not there',
      (m: TestMachine) => m.files.rename('/nothing', '/tmp/n', { overwrite: true, ...scope() }),
      'ENOENT',
      'source',
    ],
    [
      'moving onto what is there',
      (m: TestMachine) => m.files.rename('/tmp/full', '/home', { overwrite: false, ...scope() }),
      'EEXIST',
      'path',
    ],
    [
      'moving to where nothing is',
      (m: TestMachine) => m.files.rename('/tmp/full', '/no/n', { overwrite: false, ...scope() }),
      'ENOENT',
      'parent',
    ],
  ])('%s fails as the system says it', async (_, work, code, about) => {
    const machine = await shared();
    await machine.sh('mkdir /tmp/full; touch /tmp/full/f; mkfifo /tmp/fifo');
    await expect(work(machine)).rejects.toMatchObject({ name: 'GuestError', code, about });
    expect((await machine.sh('ls -A /tmp /tmp/full')).stdout).toBe('/tmp:\nfifo\nfull\n\n/tmp/full:\nf');
  });

  test('a file that grew over the limit before it was read is too large', async () => {
    const machine = await shared();
    await machine.sh('printf 12345 > /tmp/small; head -c 1000000 /dev/zero > /tmp/large; echo end > /tmp/end');
    const paths = ['/tmp/small', '/proc/self/smaps', '/tmp/large', '/tmp/end'];
    const read = await collect(machine.files.readMany(paths, { maxBytes: 100, ...scope() }));
    expect(read.map(({ content }) => (Buffer.isBuffer(content) ? content.length : content.code))).toEqual([
      5,
      'EFBIG',
      'EFBIG',
      4,
    ]);
  });

  test('a file that cannot be read to its end is reported as such, with others and alone', async () => {
    const machine = await shared();
    await machine.sh('echo end > /tmp/end');
    // Opens like any file; reads at its beginning fail.
    const unreadable = '/proc/self/mem';
    const read = await collect(machine.files.readMany([unreadable, '/tmp/end'], { maxBytes: 100, ...scope() }));
    expect(read.map(({ content }) => (Buffer.isBuffer(content) ? content.toString() : content.code))).toEqual([
      'EIO',
      'end\n',
    ]);
    await expect(bytesOf(machine, unreadable)).rejects.toMatchObject({ name: 'GuestError', code: 'EIO' });
  });

  test('many files are read in one go', async () => {
    const machine = await shared();
    await machine.sh('cd /tmp; echo one > 1; head -c 300000 /dev/zero > 2; : > 3');
    const paths = ['/tmp/1', '/tmp/none', '/tmp/2', '/tmp/3', '/home'];
    const read = await collect(machine.files.readMany(paths, { maxBytes: 1_000_000, ...scope() }));
    expect(read.map(({ content }) => (Buffer.isBuffer(content) ? content.length : content.code))).toEqual([
      4,
      'ENOENT',
      300_000,
      0,
      'EISDIR',
    ]);
  });

  test('grep and sed work on the files of the guest', async () => {
    const machine = await shared();
    await machine.sh(
      'mkdir -p /tmp/t/sub; cd /tmp/t; printf "foo\\nbar foo\\n" > a.txt; printf "foo\\r\\n" > sub/b.txt; printf "\\0foo" > bin; echo foo > c.md',
    );
    const below = { recursive: true, includeGlobs: ['*.txt'], excludeGlobs: [] };
    const grep = { path: '/tmp/t', pattern: 'fo+$', ignoreCase: false, maxMatches: 100, maxLineBytes: 100, ...below };
    expect(await machine.fileSystem.grep(grep, scope())).toEqual({
      matches: [
        { path: '/tmp/t/a.txt', line: 1, text: 'foo' },
        { path: '/tmp/t/a.txt', line: 2, text: 'bar foo' },
        { path: '/tmp/t/sub/b.txt', line: 1, text: 'foo' },
      ],
      isTruncated: false,
      skipped: [],
      filesTooLarge: 0,
    });
    const sed = {
      where: { path: '/tmp/t', ...below },
      pattern: '(o+)$',
      replacement: '<$1>',
      isRegex: true,
      firstOnly: false,
      ignoreCase: false,
    };
    expect(await machine.fileSystem.sed(sed, scope())).toEqual([
      { path: '/tmp/t/a.txt', replacements: 2 },
      { path: '/tmp/t/sub/b.txt', replacements: 1 },
    ]);
    expect((await machine.sh('cd /tmp/t; cat a.txt; od -c sub/b.txt | head -1; cat c.md')).stdout).toBe(
      'f<oo>\nbar f<oo>\n0000000   f   <   o   o   >  \\r  \\n\nfoo',
    );
  });
}
