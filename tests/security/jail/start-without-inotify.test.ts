/** A host whose inotify instances are used up: the server runs, and reports that. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { startCli } from '../../../src/testing/cli.ts';

const BUILT = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
/** A user namespace has a limit of its own, so nothing else on this machine runs out. */
const NONE_LEFT = [
  '--user',
  '--map-root-user',
  'sh',
  '-c',
  'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"',
];
const whyNot = spawnSync('unshare', [...NONE_LEFT, 'sh', 'true']).status === 0 ? '' : 'no user namespaces here';

test.skipIf(whyNot)(`starts, warns, serves and searches without a watch ${whyNot}`, async () => {
  await using dir = await tempDir({ 'desk/a.txt': 'needle\n', 'etc/cell.yaml': 'workers: [{name: coder}]\n' });
  const args = ['start', '--port', '0', '-c', dir.path('etc/cell.yaml'), '--workspace', dir.path('desk')];
  await using cell = await startCli([...NONE_LEFT, 'sh', process.execPath, BUILT, ...args], { bin: 'unshare' });
  expect(JSON.parse(cell.stderr.split('\n')[0]!)).toMatchObject({
    level: 'warn',
    message: 'the configuration file is not watched: changes take effect at the next start',
    file: dir.path('etc/cell.yaml'),
    why: expect.stringContaining('EMFILE'),
  });
  for (let call = 0; call < 3; call++) {
    const body = JSON.stringify({ query: 'needle' });
    const reply = await fetch(`${cell.http}/functions/coder/search`, { method: 'POST', body });
    expect(await reply.json()).toMatchObject({ content_matches: [{ path: 'a.txt', line: 1 }] });
  }
});
