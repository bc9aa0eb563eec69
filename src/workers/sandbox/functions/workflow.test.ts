/** The workflow that the documentation of iii-sandbox opens with, word for word. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, whyNoSandbox, type SandboxCases } from '#testing';

const why = await whyNoSandbox(['node']);

describe.skipIf(why !== undefined)(`create, write, exec, stop${why === undefined ? '' : ` (${why})`}`, () => {
  let cell: SandboxCases;
  let sandbox_id: string;
  beforeAll(async () => {
    cell = await serveSandboxes();
    sandbox_id = await cell.create({ image: 'node' });
    const content = "console.log('hi')\n";
    await cell.call('sandbox::fs::write', { sandbox_id, path: '/home/app/main.js', content });
  }, IMAGE_PATIENCE_MS);
  afterAll(async () => {
    await cell?.call('sandbox::stop', { sandbox_id });
    await cell?.[Symbol.asyncDispose]();
  });

  test.each([
    { cmd: 'node /home/app/main.js' },
    { cmd: 'node', args: ['/home/app/main.js'] },
    { argv: ['node', '/home/app/main.js'] },
  ])('pick whichever you like: %j', async (command) => {
    expect(await cell.call('sandbox::exec', { sandbox_id, ...command })).toMatchObject({ stdout: 'hi\n' });
  });

  test.each([{ env: ['FOO=bar', 'PATH=/usr/bin'] }, { env: { FOO: 'bar', PATH: '/usr/bin' } }])(
    'two accepted env shapes: %j',
    async ({ env }) => {
      const argv = ['bash', '-c', 'echo $FOO $PATH'];
      expect(await cell.call('sandbox::exec', { sandbox_id, argv, env })).toMatchObject({ stdout: 'bar /usr/bin\n' });
    },
  );

  test('git and curl are there', async () => {
    const argv = ['sh', '-c', 'git init -q /tmp/g && git -C /tmp/g status -sb && curl -s file:///home/app/main.js'];
    expect(await cell.call('sandbox::exec', { sandbox_id, argv })).toMatchObject({
      stdout: "## No commits yet on master\nconsole.log('hi')\n",
    });
  });
});
