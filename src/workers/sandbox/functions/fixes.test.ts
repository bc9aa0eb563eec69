/** "If detail.fix is non-null, your next call is `await fn(detail.fix)`. The error IS the recovery path." */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { throughDoor, type CallOptions } from '#contract';
import { IMAGE_PATIENCE_MS, serveSandboxes, whyNoSandbox, type SandboxCases } from '#testing';
import { errors, spell } from '../errors.ts';

const why = await whyNoSandbox(['python']);

test('every code says what to do next', () => {
  const output = { stdout: '', stderr: '', stdout_truncated: false, stderr_truncated: false };
  const facts = { problem: '', id: '', cap: 1, image: '', allowed: [], timeoutMs: 1, askedMs: 1, output, path: '' };
  for (const code of Object.keys(errors.table) as (keyof typeof errors.table)[]) {
    const { message } = spell(errors.fail(code, facts));
    const { fix, fix_note } = JSON.parse(message.slice(message.indexOf('{'))) as Record<string, unknown>;
    expect([code, (fix ?? fix_note) !== null]).toEqual([code, true]);
  }
});

describe.skipIf(why !== undefined)(`a fix is sent as it is${why === undefined ? '' : ` (${why})`}`, () => {
  let cell: SandboxCases;
  let sandbox_id: string;
  beforeAll(async () => {
    cell = await serveSandboxes({ image_allowlist: ['python'], per_image_caps: { python: { max_cpus: 1 } } });
    sandbox_id = await cell.create();
    const argv = ['mkdir', '-p', '/tmp/full/below'];
    await cell.call('sandbox::exec', { sandbox_id, argv });
  }, IMAGE_PATIENCE_MS);
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test.each([
    ['S001', 'exec', { cmd: 'true', workdir: '/no/where' }, { exit_code: 0 }],
    ['S001', 'create', { image: 'python', egress: { allow: [] } }, { image: 'python' }],
    ['S001', 'run', { image: 'python', lang: 'sh', code: 'pwd', workdir: '/no/where' }, { stdout: '/\n' }],
    ['S100', 'create', { image: 'node' }, { image: 'python' }],
    ['S211', 'fs::write', { path: '/tmp/a/b', content: 'x' }, { bytes_written: 1 }],
    ['S211', 'fs::mkdir', { path: '/tmp/c/d' }, { created: true }],
    ['S214', 'fs::rm', { path: '/tmp/full' }, { removed: true }],
    ['S400', 'create', { image: 'python', cpus: 2 }, { image: 'python' }],
    ['S400', 'run', { image: 'python', cpus: 2, lang: 'sh', code: 'echo hi' }, { stdout: 'hi\n' }],
  ])('%s of sandbox::%s', async (code, name, fields, reply) => {
    const needsId = name !== 'create' && name !== 'run';
    const failed = await cell.failure(`sandbox::${name}`, { ...(needsId && { sandbox_id }), ...fields });
    expect(failed).toMatchObject({ code, fix_note: null });
    expect(await cell.call(`sandbox::${name}`, failed.fix as Record<string, unknown>)).toMatchObject(reply);
  });

  test('S001 of a shell line, which only a door refuses', async () => {
    const request = { sandbox_id, cmd: 'echo hi > /tmp/x && cat /tmp/x' };
    expect(await cell.call('sandbox::exec', request)).toMatchObject({ stdout: 'hi > /tmp/x && cat /tmp/x\n' });
    const failed = await cell.failure('sandbox::exec', request, { metadata: throughDoor('model') });
    expect(failed).toMatchObject({ code: 'S001', message: expect.stringContaining('`>` has no effect') });
    expect(await cell.call('sandbox::exec', failed.fix as object)).toMatchObject({ stdout: 'hi\n' });
  });

  test('at a door a path that is not there comes with the nearest one; on the bus it does not', async () => {
    await cell.call('sandbox::fs::write', { sandbox_id, path: '/tmp/t/source/main.py', content: '', parents: true });
    const model = { metadata: throughDoor('model') };
    const said = async (op: string, path: string, options?: CallOptions) =>
      (await cell.failure(`sandbox::fs::${op}`, { sandbox_id, path }, options)).message;
    expect(await said('read', '/tmp/t/source/mian.py')).toBe('file not found: path not found: /tmp/t/source/mian.py');
    for (const op of ['read', 'stat', 'rm']) {
      expect(await said(op, '/tmp/t/source/mian.py', model)).toMatch(/; did you mean \/tmp\/t\/source\/main\.py\?$/);
    }
    expect(await said('ls', '/tmp/t/sorce/main.py', model)).toMatch(/; did you mean \/tmp\/t\/source\/main\.py\?$/);
    expect(await said('read', '/tmp/t/other', model)).toBe('file not found: path not found: /tmp/t/other');
  });
});
