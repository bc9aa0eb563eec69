import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CASE_PATIENCE_MS, IMAGE_PATIENCE_MS, rounds, serveSandboxes, whyNoSandbox, type SandboxCases } from '#testing';
import type { ChannelRef } from '#protocol';

const HUGE_MIB = rounds(8, 200, 200);
const [MANY, LINES] = [rounds(3_000, 60_000, 60_000), rounds(20_000, 100_000, 100_000)];

const NONE = '00000000-0000-4000-8000-000000000000';
const why = await whyNoSandbox(['python']);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe.skipIf(why !== undefined)(`the files of a sandbox${why === undefined ? '' : ` (${why})`}`, () => {
  let cell: SandboxCases;
  let caller: Awaited<ReturnType<SandboxCases['connect']>>;
  let sandbox_id: string;
  beforeAll(async () => {
    cell = await serveSandboxes();
    caller = await cell.connect('uploader');
    sandbox_id = await cell.create({ disk_mb: 1024, memory_mb: 1024 });
  }, IMAGE_PATIENCE_MS);
  afterAll(() => cell?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await sh('rm -rf /tmp/t && mkdir /tmp/t');
  });

  // Only the timeout of the case limits a call, because a busy machine is slow.
  const patience = { timeoutMs: CASE_PATIENCE_MS };
  const fs = <Reply = Record<string, unknown>>(op: string, fields: object) =>
    cell.call<Reply>(`sandbox::fs::${op}`, { sandbox_id, ...fields }, patience);
  const failure = (op: string, fields: object) => cell.failure(`sandbox::fs::${op}`, { sandbox_id, ...fields });
  const sh = async (line: string) => {
    const request = { sandbox_id, argv: ['sh', '-c', line] };
    const { stdout } = await cell.call<{ stdout: string }>('sandbox::exec', request, patience);
    return stdout;
  };
  const put = (path: string, content: string) => fs('write', { path, content, parents: true });
  const body = async (path: string) => (await fs<{ body: string }>('read', { path })).body;
  const names = async (path: string) =>
    (await fs<{ entries: { name: string }[] }>('ls', { path })).entries.map(({ name }) => name);

  async function bytesOf(ref: ChannelRef, pause?: () => Promise<unknown>): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const item of await caller.openReader(ref)) {
      expect(typeof item).not.toBe('string');
      pieces.push(item as Uint8Array);
      await pause?.();
    }
    return Buffer.concat(pieces);
  }

  test('sandbox.F2 bytes in base64, read through the channel', async () => {
    const bytes = Buffer.from([0x00, 0xff, 0xfe]);
    expect(await fs('write', { path: '/tmp/t/b', content_b64: bytes.toString('base64') })).toEqual({
      bytes_written: 3,
      path: '/tmp/t/b',
    });
    const { content, ...reply } = await fs<{ content: ChannelRef }>('read', { path: '/tmp/t/b' });
    expect(reply).toEqual({ size: 3, mode: '0644', mtime: expect.any(Number) });
    expect(await bytesOf(content)).toEqual(bytes);
  });

  test.each([
    ['both bodies', { content: 'a', content_b64: 'YQ==' }],
    ['no body', {}],
    ['bad base64', { content_b64: '!' }],
  ])('sandbox.F3 %s, whatever the sandbox', async (_, fields) => {
    for (const id of [sandbox_id, NONE, 'not-a-uuid']) {
      const failed = await failure('write', { path: '/tmp/t/x', ...fields, sandbox_id: id });
      expect(failed).toMatchObject({ code: 'S001', message: expect.stringContaining('content') });
    }
  });

  test('sandbox.F5 sandbox.F6 an empty file, and the mode of the request', async () => {
    expect(await put('/tmp/t/e', '')).toMatchObject({ bytes_written: 0 });
    expect(await fs('read', { path: '/tmp/t/e' })).toMatchObject({ body: '', size: 0 });
    await fs('chmod', { path: '/tmp/t/e', mode: '0755' });
    await put('/tmp/t/e', 'new');
    expect(await fs('stat', { path: '/tmp/t/e' })).toMatchObject({ mode: '0644', size: 3 });
  });

  test('sandbox.F8 onto a directory', async () => {
    await put('/tmp/t/d/f', 'x');
    expect(['S212', 'S216']).toContain((await failure('write', { path: '/tmp/t/d', content: 'x' })).code);
    expect([await names('/tmp/t'), await names('/tmp/t/d')]).toEqual([['d'], ['f']]);
  });

  test('sandbox.F9 20 MiB through a channel', async () => {
    const bytes = randomBytes(20 * 2 ** 20);
    const { writer, reader } = await caller.createChannel();
    const writing = fs('write', { path: '/tmp/t/big', content: reader });
    const sink = await caller.openWriter(writer);
    await sink.write(bytes);
    await sink.end();
    expect(await writing).toMatchObject({ bytes_written: bytes.length });
    expect(await sh('sha256sum < /tmp/t/big')).toContain(sha256(bytes));
  });

  test('sandbox.F11 what cannot be read, and where text stops being in the reply', async () => {
    expect(await failure('read', { path: '/tmp/t/none' })).toMatchObject({ code: 'S211', fix: null });
    await sh('mkfifo /tmp/t/fifo');
    for (const path of ['/tmp/t', '/tmp/t/fifo', '/dev/zero']) {
      expect(await failure('read', { path })).toMatchObject({ code: 'S212' });
    }
    await sh(
      'head -c 1048575 /dev/zero | tr "\\0" a > /tmp/t/under; head -c 1048576 /dev/zero | tr "\\0" a > /tmp/t/at',
    );
    expect((await body('/tmp/t/under')).length).toBe(1_048_575);
    const at = await fs<{ content: ChannelRef }>('read', { path: '/tmp/t/at' });
    expect(Object.keys(at)).not.toContain('body');
    expect((await bytesOf(at.content)).length).toBe(1_048_576);
  });

  test('sandbox.F12 read follows a link, and stat reports it', async () => {
    await put('/tmp/t/f', 'text');
    await sh('ln -s f /tmp/t/l');
    expect(await fs('read', { path: '/tmp/t/l' })).toMatchObject({ body: 'text', size: 4 });
    expect(await fs('stat', { path: '/tmp/t/l' })).toMatchObject({ name: 'l', is_symlink: true, is_dir: false });
  });

  test('sandbox.F14 ls', async () => {
    await sh('cd /tmp/t && touch .h f && mkdir d && ln -s f link && chmod 4755 f');
    const { entries } = await fs<{ entries: object[] }>('ls', { path: '/tmp/t' });
    expect(entries).toMatchObject([
      { name: '.h', is_dir: false, is_symlink: false, mode: '0644' },
      { name: 'd', is_dir: true, is_symlink: false, mode: '0755' },
      { name: 'f', is_dir: false, is_symlink: false, mode: '4755' },
      { name: 'link', is_dir: false, is_symlink: true, mode: '0777' },
    ]);
    expect(await failure('ls', { path: '/tmp/t/f' })).toMatchObject({ code: 'S212' });
    expect(await failure('ls', { path: '/tmp/t/none' })).toMatchObject({ code: 'S211' });
    expect(await names('/tmp/t/d')).toEqual([]);
  });

  test('sandbox.F15 mkdir', async () => {
    expect(await fs('mkdir', { path: '/tmp/t/n' })).toEqual({ created: true });
    expect(await failure('mkdir', { path: '/tmp/t/n' })).toMatchObject({ code: 'S213' });
    expect(await fs('mkdir', { path: '/tmp/t/n', parents: true })).toEqual({ created: false });
    expect(await failure('mkdir', { path: '/tmp/t/x/y/z' })).toMatchObject({ code: 'S211', fix: { parents: true } });
    expect(await fs('mkdir', { path: '/tmp/t/x/y/z', parents: true, mode: '0700' })).toEqual({ created: true });
    expect(await fs('stat', { path: '/tmp/t/x/y/z' })).toMatchObject({ mode: '0700' });
    await put('/tmp/t/file', '');
    expect(await failure('mkdir', { path: '/tmp/t/file', parents: true })).toMatchObject({ code: 'S213' });
  });

  test('sandbox.F17 rm', async () => {
    await sh('cd /tmp/t && touch f && mkdir d && touch d/x && ln -s d l');
    expect(await fs('rm', { path: '/tmp/t/f' })).toEqual({ removed: true });
    expect(await failure('rm', { path: '/tmp/t/f' })).toMatchObject({ code: 'S211' });
    expect(await failure('rm', { path: '/tmp/t/d' })).toMatchObject({ code: 'S214', fix: { recursive: true } });
    expect(await fs('rm', { path: '/tmp/t/l', recursive: true })).toEqual({ removed: true });
    expect(await names('/tmp/t/d')).toEqual(['x']);
    expect(await fs('rm', { path: '/tmp/t/d', recursive: true })).toEqual({ removed: true });
    expect(await names('/tmp/t')).toEqual([]);
  });

  test('sandbox.F18 chmod', async () => {
    await sh('cd /tmp/t && mkdir d && touch d/a d/b && ln -s /etc/passwd d/l');
    expect(await fs('chmod', { path: '/tmp/t/d/a', mode: '0755' })).toEqual({ updated: 1 });
    expect(await fs('chmod', { path: '/tmp/t/d', mode: '0700', recursive: true })).toEqual({ updated: 3 });
    expect(await sh('stat -c %a /etc/passwd')).toBe('644\n');
    expect(await failure('chmod', { path: '/tmp/t/none', mode: '0700' })).toMatchObject({ code: 'S211' });
    expect(await failure('chmod', { path: '/tmp/t/d', mode: 'x' })).toMatchObject({ code: 'S210' });
    await fs('chmod', { path: '/tmp/t/d/a', mode: '0600', uid: 7, gid: 8 });
    expect(await sh('stat -c %u:%g /tmp/t/d/a')).toBe('7:8\n');
  });

  test('sandbox.F20 mv', async () => {
    await put('/tmp/t/a', 'a');
    await put('/tmp/t/b', 'b');
    expect(await fs('mv', { src: '/tmp/t/a', dst: '/tmp/t/c' })).toEqual({ moved: true });
    expect(await failure('mv', { src: '/tmp/t/a', dst: '/tmp/t/x' })).toMatchObject({ code: 'S211' });
    expect(await failure('mv', { src: '/tmp/t/c', dst: '/tmp/t/b' })).toMatchObject({ code: 'S213' });
    expect([await body('/tmp/t/b'), await body('/tmp/t/c')]).toEqual(['b', 'a']);
    expect(await fs('mv', { src: '/tmp/t/c', dst: '/tmp/t/b', overwrite: true })).toEqual({ moved: true });
    expect(await body('/tmp/t/b')).toBe('a');
    expect(await failure('mv', { src: '/tmp/t/b', dst: '/tmp/t/no/b' })).toMatchObject({ code: 'S211' });
  });

  test('sandbox.F21 mv from one mount to another, a file and a directory', async () => {
    await sh(
      'mkdir -p /tmp/t/d/e && echo x > /tmp/t/d/e/f && ln -s f /tmp/t/d/e/l && echo y > /tmp/t/g && chmod 751 /tmp/t/g',
    );
    expect(await fs('mv', { src: '/tmp/t/g', dst: '/home/g' })).toEqual({ moved: true });
    expect(await fs('mv', { src: '/tmp/t/d', dst: '/home/d' })).toEqual({ moved: true });
    expect(
      await sh(
        'cat /home/d/e/f /home/g; readlink /home/d/e/l; stat -c %a /home/g; ls -A /tmp/t; rm -r /home/d /home/g',
      ),
    ).toBe('x\ny\nf\n751\n');
  });

  describe('grep', () => {
    const grep = (fields: object) =>
      fs<{ matches: { path: string; line: number; content: string }[]; truncated: boolean }>('grep', {
        path: '/tmp/t',
        ...fields,
      });

    test('sandbox.F23 filters by name at any depth, and by case', async () => {
      await put('/tmp/t/a.py', 'Foo\n');
      await put('/tmp/t/d/e/b.py', 'foo\n');
      await put('/tmp/t/c.txt', 'foo\n');
      const found = async (fields: object) => (await grep(fields)).matches.map(({ path }) => path);
      expect(await found({ pattern: 'foo', ignore_case: true })).toEqual([
        '/tmp/t/a.py',
        '/tmp/t/c.txt',
        '/tmp/t/d/e/b.py',
      ]);
      expect(await found({ pattern: 'foo', include_glob: ['*.py'] })).toEqual(['/tmp/t/d/e/b.py']);
      expect(await found({ pattern: 'foo', exclude_glob: ['*.py'] })).toEqual(['/tmp/t/c.txt']);
    });

    test('sandbox.F24 stops at the cap and cuts lines between characters', async () => {
      await put('/tmp/t/x', 'x\n'.repeat(5));
      await put('/tmp/t/e', 'ééé\n');
      expect(await grep({ pattern: 'x', max_matches: 2 })).toMatchObject({
        matches: [{ line: 1 }, { line: 2 }],
        truncated: true,
      });
      expect((await grep({ pattern: 'é', max_line_bytes: 4 })).matches).toMatchObject([{ content: 'éé…' }]);
    });

    test('sandbox.F26 a path that is missing comes first, then the pattern, then the kind', async () => {
      expect(await failure('grep', { path: '/tmp/t/none', pattern: '(' })).toMatchObject({ code: 'S211' });
      expect(await failure('grep', { path: '/tmp/t', pattern: '(' })).toMatchObject({ code: 'S217' });
      expect(await failure('grep', { path: '/tmp/t', pattern: 'x', recursive: false })).toMatchObject({ code: 'S210' });
    });

    test('sandbox.F27 binary files are left out, lines that are not text are counted', async () => {
      await sh(`printf 'hit\\0' > /tmp/t/bin; printf '\\377\\n hit\\n' > /tmp/t/mixed`);
      expect((await grep({ pattern: 'hit' })).matches).toMatchObject([{ path: '/tmp/t/mixed', line: 2 }]);
    });

    test('sandbox.F36 a directory and everything below it can be left out', async () => {
      await put('/tmp/t/node_modules/a/b/c.js', 'x\n');
      await put('/tmp/t/own.js', 'x\n');
      const globs = ['node_modules/**', 'node_modules', 'node_modules/', 'a/'];
      const all = await Promise.all(globs.map((glob) => grep({ pattern: 'x', exclude_glob: [glob] })));
      expect(all.map(({ matches }) => matches.map(({ path }) => path))).toEqual(globs.map(() => ['/tmp/t/own.js']));
    });

    test('a link to a directory ends as well', async () => {
      await put('/tmp/t/d/f', 'x\n');
      await sh('ln -s d /tmp/t/l; ln -s . /tmp/t/d/loop');
      expect((await grep({ path: '/tmp/t/l', pattern: 'x' })).matches.length).toBeLessThanOrEqual(1);
    });
  });

  describe('sed', () => {
    test.each([
      ['both forms', { files: ['/tmp/t/f'], path: '/tmp/t' }],
      ['neither form', {}],
      ['an empty list', { files: [] }],
    ])('sandbox.F29 %s', async (_, fields) => {
      await put('/tmp/t/f', 'a');
      expect(await failure('sed', { pattern: 'a', replacement: 'b', ...fields })).toMatchObject({ code: 'S210' });
      expect(await body('/tmp/t/f')).toBe('a');
    });

    test.each([
      ['sandbox.F30 groups', { pattern: '(\\w+)@(\\w+)', replacement: '${2}-$1' }, 'me@home\n', 'home-me\n'],
      ['sandbox.F30 literal', { pattern: 'a.b', replacement: 'X', regex: false }, 'a.b axb\n', 'X axb\n'],
      ['sandbox.F33 the end of a line', { pattern: 'o$', replacement: '0' }, 'foo\nbar\n', 'fo0\nbar\n'],
      ['sandbox.F35 a dollar', { pattern: 'A', replacement: '$5', regex: false, ignore_case: true }, 'a\n', '$5\n'],
    ])('%s', async (_, fields, before, after) => {
      await put('/tmp/t/f', before);
      await fs('sed', { files: ['/tmp/t/f'], ...fields });
      expect(await body('/tmp/t/f')).toBe(after);
    });

    test.each([
      ['S217', { path: '/tmp/t', pattern: '(' }],
      ['S210', { path: '/tmp/t', pattern: '', regex: false }],
      ['S211', { path: '/tmp/t/none', pattern: 'a' }],
      ['S210', { path: '/tmp/t', pattern: 'a', recursive: false }],
    ])('sandbox.F32 %s', async (code, fields) => {
      expect(await failure('sed', { replacement: '', ...fields })).toMatchObject({ code });
    });
  });

  test(
    'sandbox.F38 replies of many megabytes arrive',
    async () => {
      await sh(
        `yes "a long line that matches, again and again and again" | head -n ${LINES} > /tmp/t/long; mkdir /tmp/t/many; cd /tmp/t/many && seq ${MANY} | xargs touch`,
      );
      const { matches } = await fs<{ matches: unknown[] }>('grep', {
        path: '/tmp/t/long',
        pattern: 'again',
        max_matches: 0,
      });
      expect(matches.length).toBe(LINES);
      expect((await names('/tmp/t/many')).length).toBe(MANY);
    },
    CASE_PATIENCE_MS,
  );

  test(
    `sandbox.P10 sandbox.F39 ${HUGE_MIB} MiB through a channel whose reader is slow`,
    async () => {
      const sum = await sh(`head -c ${HUGE_MIB}M /dev/urandom > /tmp/t/huge; sha256sum < /tmp/t/huge`);
      const { content } = await fs<{ content: ChannelRef }>('read', { path: '/tmp/t/huge' });
      const hash = createHash('sha256');
      let chunks = 0;
      for await (const item of await caller.openReader(content)) {
        hash.update(item as Uint8Array);
        if (++chunks % 50 === 0) await sleep(20);
      }
      expect(sum).toContain(hash.digest('hex'));
    },
    2 * CASE_PATIENCE_MS,
  );

  test('sandbox.P10 sandbox.F41 files are served while as many commands run as may', async () => {
    const running = Array.from({ length: 4 }, () => sh('sleep 2'));
    await put('/tmp/t/f', 'a\n');
    for (const [op, fields] of [
      ...(['ls', 'stat', 'read'] as const).map((op) => [op, { path: op === 'ls' ? '/tmp/t' : '/tmp/t/f' }] as const),
      ['mkdir', { path: '/tmp/t/m' }],
      ['chmod', { path: '/tmp/t/f', mode: '0600' }],
      ['grep', { path: '/tmp/t', pattern: 'a' }],
      ['sed', { path: '/tmp/t', pattern: 'a', replacement: 'b' }],
      ['mv', { src: '/tmp/t/f', dst: '/tmp/t/g' }],
      ['rm', { path: '/tmp/t/g' }],
    ] as const) {
      expect({ op, reply: await fs(op, fields) }).toEqual({ op, reply: expect.any(Object) });
    }
    await Promise.all(running);
  });
});
