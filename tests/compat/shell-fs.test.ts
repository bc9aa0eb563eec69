/** File operations of shell with published clients: in a sandbox that a stand-in answers for, and on the host. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import type { ChannelRef } from '#protocol';
import { startEngine, tempDir } from '#testing';
import { shell } from '#workers/shell';
import { channelPeer, channelPeers } from './support/channel-peers.ts';
import { connectSdk, versions } from './support/clients.ts';

const SANDBOX = '0b0e7a4e-4b0c-4c3f-9d52-1f1f6d1d2a11';
const target = { kind: 'sandbox', sandbox_id: SANDBOX };

type Payload = Record<string, unknown>;
type Handler = (payload: Payload) => Promise<unknown>;

/** Our shell on an engine, and a worker of the SDK with these functions beside it. */
async function setUp(
  functions: Record<string, Handler> = {},
  { version = versions[0], config = {} }: { version?: (typeof versions)[number]; config?: object } = {},
) {
  const dir = await tempDir();
  const engine = await startEngine();
  const context = await shell.open(
    parseConfig(shell.config, { fs: { host_root: dir.root }, ...config }, 'shell'),
    silentLog,
  );
  const worker = await connect(engine.url, { name: 'shell' });
  worker.serve({ def: shell, context });
  await worker.call('engine::workers::list');

  const sdk = connectSdk(version, engine.url);
  const seen: Payload[] = [];
  for (const [id, handler] of Object.entries(functions)) {
    sdk.registerFunction(id, async ({ _caller_worker_id: _, ...payload }: Payload) => {
      seen.push(payload);
      return handler(payload);
    });
  }
  await sdk.settled();
  const caller = await connect(engine.url, { name: 'caller' });
  return {
    dir,
    engine,
    seen,
    sdk,
    call: async (op: string, payload: Payload) => (await caller.call(`shell::fs::${op}`, payload)) as Payload,
    async [Symbol.asyncDispose]() {
      await shell.close(context);
      await sdk[Symbol.asyncDispose]();
      caller.close();
      worker.close();
      await engine[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const entry = { name: 'f', is_dir: false, size: 1, mode: '0644', mtime: 1, is_symlink: false };

describe('in a sandbox', () => {
  test.each(versions)('shell.P15 shell.F71 grep reaches a %s worker with all its fields', async (version) => {
    const found = { matches: [{ path: '/f', line: 3, content: 'x' }], truncated: false };
    await using own = await setUp({ 'sandbox::fs::grep': async () => found }, { version });
    const fields = {
      path: 'relative/is/fine/there',
      pattern: 'x',
      recursive: false,
      ignore_case: true,
      include_glob: ['*.rs'],
      exclude_glob: ['*.txt'],
      max_matches: 5,
      max_line_bytes: 80,
    };
    expect(await own.call('grep', { ...fields, target })).toEqual(found);
    expect(own.seen).toEqual([{ ...fields, sandbox_id: SANDBOX }]);
  });

  test.each<[string, Payload, Payload, Payload]>([
    ['ls', { path: '/etc' }, {}, { entries: [entry] }],
    ['stat', { path: '/etc/shadow' }, {}, entry],
    ['mkdir', { path: '/d' }, { mode: '0755', parents: false }, { created: true }],
    ['rm', { path: '/d' }, { recursive: false }, { removed: true }],
    ['chmod', { path: '/f', mode: '4755' }, { uid: null, gid: null, recursive: false }, { updated: 1 }],
    ['mv', { src: '/a', dst: '/b' }, { overwrite: false }, { moved: true }],
    [
      'sed',
      { files: ['/f'], pattern: 'a', replacement: '$9' },
      {
        ...{ path: null, recursive: true, include_glob: [], exclude_glob: [] },
        ...{ regex: true, first_only: false, ignore_case: false },
      },
      { results: [{ path: '/f', replacements: 1, success: true }], total_replacements: 1 },
    ],
    ['write', { path: '/f', content: 'text' }, { parents: false }, { bytes_written: 4, path: '/f' }],
  ])(
    '%s is forwarded with its defaults, and neither jail nor rules of this host are asked',
    async (op, sent, defaults, reply) => {
      await using own = await setUp({ [`sandbox::fs::${op}`]: async () => reply });
      expect(await own.call(op, { ...sent, target })).toEqual(reply);
      expect(own.seen).toEqual([{ ...defaults, ...sent, sandbox_id: SANDBOX }]);
    },
  );

  test('shell.P15 the channels of read and write are passed on as they are', async () => {
    const bytes = randomBytes(200_000);
    const given: { ref?: ChannelRef; got?: Buffer } = {};
    await using own = await setUp({
      'sandbox::fs::read': async () => ({ content: given.ref, size: 3, mode: '0600', mtime: 7 }),
      'sandbox::fs::write': async ({ content, path }) => {
        given.got = await (content as { readAll(): Promise<Buffer> }).readAll();
        return { bytes_written: given.got.length, path };
      },
    });
    const { reader, writer } = own.engine.engine.channels.create();
    given.ref = reader;
    expect(await own.call('read', { path: '/f', target })).toEqual({
      content: reader,
      size: 3,
      mode: '0600',
      mtime: 7,
    });

    await using peer = await channelPeer('our client', own.engine);
    const [reply] = await Promise.all([
      own.call('write', { path: '/f', content: reader, target }),
      peer.write(writer, bytes),
    ]);
    expect([reply, given.got?.equals(bytes)]).toEqual([{ bytes_written: 200_000, path: '/f' }, true]);
  });

  test.each([
    ['in the text', 'S211: not found', 'S211'],
    ['with the prefix of a handler', 'handler error: S211: not found', 'S211'],
    ['as JSON', '{"code":"S002","message":"no such sandbox"}', 'S002'],
    ['of the file system', '{"code":"S214","message":"not empty"}', 'S214'],
    ['that is unknown', 'handler error: S999: what', 'S216'],
    ['that a file operation does not promise', '{"code":"S300","message":"boot"}', 'S216'],
    ['that there is none of', 'out of luck', 'S216'],
  ])('shell.F72 a code %s is recovered', async (_, text, code) => {
    const fail = async () => {
      throw new Error(text);
    };
    await using own = await setUp({ 'sandbox::fs::ls': fail });
    await expect(own.call('ls', { path: '/', target })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^forwarded from engine: /),
    });
  });

  test('an answer of another shape is a failure', async () => {
    await using own = await setUp({ 'sandbox::fs::ls': async () => ({ entries: [{ name: 7 }] }) });
    await expect(own.call('ls', { path: '/', target })).rejects.toMatchObject({
      code: 'S216',
      message: expect.stringMatching(
        /^bad engine response: the reply of sandbox::fs::ls is not valid at `entries\.0\.\w+` \(.+\); update the worker/,
      ),
    });
  });

  test('without a sandbox worker, and when the operator switched sandboxes off', async () => {
    await using without = await setUp();
    await expect(without.call('ls', { path: '/', target })).rejects.toMatchObject({
      code: 'S216',
      message: expect.stringContaining('is the iii-sandbox worker running?'),
    });
    await using off = await setUp({ 'sandbox::fs::ls': async () => ({}) }, { config: { sandbox: { enabled: false } } });
    await expect(off.call('ls', { path: '/', target })).rejects.toMatchObject({
      code: 'S210',
      message: expect.stringMatching(/^sandbox target disabled in config: .* sandbox\.enabled: true/),
    });
    expect(off.seen).toEqual([]);
  });
});

describe('on the host', () => {
  test.each(channelPeers)('shell.F66 5 MiB written and read by %s are the same', async (kind) => {
    await using own = await setUp();
    await using peer = await channelPeer(kind, own.engine);
    const bytes = randomBytes(5 * 2 ** 20);
    const path = own.dir.path('f');
    const { reader, writer } = own.engine.engine.channels.create();
    const [written] = await Promise.all([own.call('write', { path, content: reader }), peer.write(writer, bytes)]);
    expect(written).toEqual({ bytes_written: bytes.length, path });
    expect(readFileSync(path).equals(bytes)).toBe(true);

    const { content, size } = await own.call('read', { path });
    expect([size, (await peer.readAll(content as ChannelRef)).equals(bytes)]).toEqual([bytes.length, true]);
  });

  test.each(versions)('%s: a failure carries its code in the text', async (version) => {
    await using own = await setUp({}, { version });
    const calling = own.sdk.trigger({ function_id: 'shell::fs::stat', payload: { path: own.dir.path('gone') } });
    await expect(calling).rejects.toThrow('"code":"S211"');
  });
});
