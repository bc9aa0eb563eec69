/** The tests of changes, undo, the journal and the fence again, as an ordinary user: the kernel gives root and a user different overlays. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test, vi } from 'vitest';

import { NOBODY_UID, tempDir } from '#testing';
import { asUser } from '../sandbox/sandbox-user.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

vi.setConfig({ testTimeout: 300_000 });

const asNobody = (words: string[]) => ['setpriv', ...asUser(NOBODY_UID), ...words] as const;

function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return 'the tests run as an ordinary user already';
  const [command, ...args] = asNobody(['cat', `${ROOT}package.json`]);
  return spawnSync(command, args).status === 0 ? undefined : 'an ordinary user cannot read this directory';
}

const reason = whyNot();

test.skipIf(reason !== undefined)(
  `change.A16 changes, undo and the journal as an ordinary user${reason === undefined ? '' : ` (${reason})`}`,
  async () => {
    await using dir = await tempDir({ 'home/': '' });
    execFileSync('chown', ['-R', `${NOBODY_UID}:${NOBODY_UID}`, dir.root]);
    const [command, ...args] = asNobody([
      process.execPath,
      'node_modules/vitest/vitest.mjs',
      'run',
      // Nothing is written into the repository, which the user does not own.
      '--configLoader=runner',
      `--experimental.fsModuleCachePath=${dir.path('cache')}`,
      '--project=unit',
      '--reporter=json',
      'src/workers/change',
      'src/host/journal',
      'src/host/changes',
      'src/host/layers',
      'src/workers/shell/functions/fence.test.ts',
    ]);
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH!, HOME: dir.path('home'), TMPDIR: dir.root };
    const { stdout, stderr } = spawnSync(command, args, { cwd: ROOT, env, encoding: 'utf8', maxBuffer: 2 ** 26 });
    if (!stdout.includes('{')) throw new Error(`no report: ${stderr}`);
    const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report;
    const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = all.filter(({ status }) => status === 'failed');
    expect(failed.map(({ fullName, failureMessages }) => [fullName, ...failureMessages])).toEqual([]);
    const passed = all.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName);
    for (let number = 1; number <= 9; number++) {
      expect(passed).toContainEqual(expect.stringMatching(new RegExp(`change\\.A${number} `)));
    }
  },
);

interface Report {
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
}
