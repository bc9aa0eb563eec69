import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, TEST_ISOLATIONS, whyNoSandbox, type SandboxCases } from '#testing';
import { sandbox } from '../index.ts';

const NONE = '00000000-0000-4000-8000-000000000000';
const KEYS = ['code', 'docs_url', 'fix', 'fix_note', 'message', 'retryable', 'type'];

const why = await whyNoSandbox(['python']);

describe('what needs no machine', () => {
  test('sandbox.B2 custom images come after the presets, by name', async () => {
    await using cell = await serveSandboxes({ custom_images: { zeta: 'example.com/z', alpha: 'example.com/a' } });
    const { images } = await cell.call<{ images: { name: string; kind: string }[] }>('sandbox::catalog::list', {});
    expect(images.map(({ name, kind }) => [name, kind])).toEqual([
      ['python', 'preset'],
      ['node', 'preset'],
      ['alpha', 'custom'],
      ['zeta', 'custom'],
    ]);
  });

  test('sandbox.B3 the catalogue lists what is not allowed as well, and says so', async () => {
    await using cell = await serveSandboxes({ image_allowlist: ['python'] });
    const { images } = await cell.call<{ images: { name: string; allowed: boolean }[] }>('sandbox::catalog::list', {});
    expect(images.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['python', true],
      ['node', false],
    ]);
  });

  test.each([
    ['sandbox.B5 a reference as image', {}, 'docker.io/library/node:20'],
    ['sandbox.B6 an image when none is allowed', { image_allowlist: [] }, 'python'],
  ])('%s', async (_, config, image) => {
    await using cell = await serveSandboxes(config);
    expect(await cell.failure('sandbox::create', { image })).toMatchObject({ code: 'S100', type: 'config' });
  });

  test('sandbox.B11 sandbox.B12 caps of an image hold for what is asked and for defaults', async () => {
    await using cell = await serveSandboxes({
      default_cpus: 4,
      per_image_caps: { python: { max_cpus: 2, max_memory_mb: 1024 } },
    });
    const create = (request: object) => cell.failure('sandbox::create', { image: 'python', ...request });
    expect(await create({ cpus: 3 })).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('cpus'),
      fix: { image: 'python', cpus: 2 },
    });
    expect(await create({ cpus: 2, memory_mb: 2048 })).toMatchObject({
      code: 'S400',
      message: expect.stringContaining('memory'),
    });
    expect(await create({})).toMatchObject({ code: 'S400' });
  });

  test.each([
    { cpus: 2 ** 32 - 1 },
    { memory_mb: 2 ** 32 - 1 },
    { disk_mb: 2 ** 32 - 1 },
    { memory_mb: 2 ** 30, disk_mb: 2 ** 30 },
  ])('more than a part of the host is refused, and the error has what is free: %o', async (asked) => {
    await using cell = await serveSandboxes({
      auto_install: false,
      image_allowlist: ['own'],
      custom_images: { own: 'localhost:9/own:1' },
    });
    const refused = await cell.failure('sandbox::create', { image: 'own', ...asked });
    const isProcessors = 'cpus' in asked;
    expect(refused).toMatchObject({
      code: 'S400',
      message: expect.stringMatching(
        isProcessors
          ? /cpus is 4294967295; on this host it may be \d+ \(max_sandbox_percent: 50\)$/
          : /one sandbox may take \d+ MiB \(max_sandbox_percent: 50\), and \d+ MiB of the \d+ MiB for all sandboxes are free/,
      ),
    });
    // The image is missing, but that is checked later.
    expect(await cell.failure('sandbox::create', refused.fix as Record<string, unknown>)).toMatchObject({
      code: 'S101',
    });
  });

  test.each([[['a-b=1']], [['nothing']], [{ 'a-b': '1' }], [['A=\0']]])(
    'an env of %j is refused before anything boots',
    async (env) => {
      await using cell = await serveSandboxes({
        auto_install: false,
        image_allowlist: ['own'],
        custom_images: { own: 'localhost:9/own:1' },
      });
      // The image is missing, but that is checked later.
      expect(await cell.failure('sandbox::create', { image: 'own', env })).toMatchObject({ code: 'S001' });
      const code = { lang: 'sh', code: '' };
      expect(await cell.failure('sandbox::run', { image: 'own', env, ...code })).toMatchObject({ code: 'S001' });
    },
  );

  test('sandbox.B14 an image that is not there and may not be fetched', async () => {
    const config = { auto_install: false, custom_images: { own: 'localhost:9/own:1' }, image_allowlist: ['own'] };
    await using cell = await serveSandboxes(config);
    expect(await cell.failure('sandbox::create', { image: 'own' })).toMatchObject({ code: 'S101', type: 'internal' });
  });

  test('sandbox.B15 an image that cannot be reached', async () => {
    await using cell = await serveSandboxes({ custom_images: { own: 'localhost:9/own:1' }, image_allowlist: ['own'] });
    const failure = await cell.failure('sandbox::create', { image: 'own' });
    expect(failure).toMatchObject({ code: 'S102', type: 'transient', retryable: true });
  });

  test('sandbox.B18 a custom image may not take the name of a preset', () => {
    const parsed = sandbox.config.safeParse({ custom_images: { python: 'example.com/p' } });
    expect(parsed.error?.issues[0]).toMatchObject({ path: ['custom_images', 'python'] });
  });

  test.each(['cpus', 'memory_mb', 'disk_mb'])('a sandbox without %s is refused', async (field) => {
    await using cell = await serveSandboxes();
    const failure = await cell.failure('sandbox::create', { image: 'python', [field]: 0 });
    expect(failure).toMatchObject({ code: 'S001', message: expect.stringContaining(field) });
  });
});

describe('the envelope', () => {
  let cell: SandboxCases;
  beforeAll(async () => (cell = await serveSandboxes()));
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test('sandbox.A1 has all seven keys', async () => {
    const failure = await cell.failure('sandbox::exec', { sandbox_id: NONE, cmd: 'true' });
    expect(Object.keys(failure).toSorted()).toEqual(KEYS);
    expect(failure).toMatchObject({ code: 'S002', type: 'validation', retryable: false, fix: null });
    expect(failure.fix_note).toMatch(/sandbox::create/);
    expect(failure.docs_url).toMatch(/#S002$/);
  });

  test.each([
    ['exec', { cmd: 'true' }],
    ['stop', {}],
    ['fs::ls', { path: '/' }],
    ['fs::stat', { path: '/' }],
    ['fs::mkdir', { path: '/x' }],
    ['fs::write', { path: '/x', content: '' }],
    ['fs::read', { path: '/x' }],
    ['fs::rm', { path: '/x' }],
    ['fs::chmod', { path: '/x', mode: '0644' }],
    ['fs::mv', { src: '/x', dst: '/y' }],
    ['fs::grep', { path: '/', pattern: 'x' }],
    ['fs::sed', { path: '/', pattern: 'x', replacement: 'y' }],
  ])('sandbox.A2 %s is refused with the invalid id', async (name, fields) => {
    const failure = await cell.failure(`sandbox::${name}`, { sandbox_id: 'not-a-uuid', ...fields });
    expect(failure).toMatchObject({ code: 'S001', message: expect.stringContaining('not-a-uuid') });
    expect(await cell.failure(`sandbox::${name}`, { sandbox_id: NONE, ...fields })).toMatchObject({ code: 'S002' });
  });

  test('sandbox.A5 unknown fields are ignored', async () => {
    expect(await cell.call('sandbox::list', { show_all: true, x: 1 })).toEqual({ sandboxes: [] });
  });

  test.each([-1, 1.5, '5'])('sandbox.A7 a timeout of %j is not a number of milliseconds', async (timeout_ms) => {
    const failure = await cell.failure('sandbox::exec', { sandbox_id: NONE, cmd: 'true', timeout_ms });
    expect(failure).toMatchObject({ code: 'S001', message: expect.stringContaining('timeout_ms') });
  });

  test('sandbox.A8 on the wire its message is JSON whose first code is its own', async () => {
    const caller = await cell.connect('raw');
    const error: unknown = await caller.call('sandbox::stop', { sandbox_id: NONE }).catch((thrown: unknown) => thrown);
    const { code, message } = (error as { body: { code: string; message: string } }).body;
    expect(code).toBe('invocation_failed');
    expect(message).toMatch(/^\{"code":"S002"/);
    expect(/S\d{3}/.exec(message)?.[0]).toBe('S002');
  });
});

describe.skipIf(why !== undefined)(
  `machines${why === undefined ? '' : ` (${why})`}`,
  () => {
    test('sandbox.P1 sandbox.B8 a sandbox and its row', async () => {
      await using cell = await serveSandboxes();
      const reply = await cell.call('sandbox::create', { image: 'python' });
      expect(reply).toEqual({
        sandbox_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        image: 'python',
        isolation: expect.toBeOneOf(TEST_ISOLATIONS),
        backend: expect.any(String),
      });
      const { sandboxes } = await cell.call<{ sandboxes: object[] }>('sandbox::list', {});
      expect(sandboxes).toEqual([
        {
          sandbox_id: reply.sandbox_id,
          name: null,
          image: 'python',
          age_secs: expect.any(Number),
          exec_in_progress: false,
          stopped: false,
          exec_in_flight: 0,
          exec_slots_free: 4,
          isolation: expect.toBeOneOf(TEST_ISOLATIONS),
          backend: expect.any(String),
          cpus: 1,
          memory_mb: 512,
          disk_mb: 1024,
          network: false,
          idle_deadline_secs: expect.any(Number),
          idle_secs: expect.any(Number),
          caller: { id: expect.any(String), label: 'caller' },
          usage: expect.any(Object),
        },
      ]);
    });

    test('sandbox.B9 names need not be different', async () => {
      await using cell = await serveSandboxes();
      for (const name of ['lab', 'lab']) await cell.create({ name });
      const { sandboxes } = await cell.call<{ sandboxes: { name: string }[] }>('sandbox::list', {});
      expect(sandboxes.map(({ name }) => name)).toEqual(['lab', 'lab']);
    });

    test('sandbox.B17 ten at once with room for three are three', async () => {
      await using cell = await serveSandboxes({ max_concurrent_sandboxes: 3 });
      const replies = await Promise.allSettled(Array.from({ length: 10 }, () => cell.create()));
      const codes = replies.map((reply) =>
        reply.status === 'fulfilled' ? 'ok' : (reply.reason as { code: string }).code,
      );
      expect(codes.toSorted()).toEqual([...Array(7).fill('S400'), 'ok', 'ok', 'ok']);
    });

    test('sandbox.B21 a long text in the environment arrives whole', async () => {
      await using cell = await serveSandboxes();
      const LONG = 'é€😀'.repeat(500);
      const sandbox_id = await cell.create({ env: { LONG } });
      expect(await cell.call('sandbox::exec', { sandbox_id, argv: ['printenv', 'LONG'] })).toMatchObject({
        stdout: `${LONG}\n`,
      });
    });
  },
  IMAGE_PATIENCE_MS,
);
