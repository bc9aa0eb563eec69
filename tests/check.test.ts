/** scripts/check.mjs in a repository of four tests: its last lines name each failure, because CI keeps only the end of a log. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { tempDir } from '#testing/basics';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SCRIPTS = ['scripts/check.mjs', 'scripts/closing-line.mjs', 'scripts/backends.mjs'];
const BACKENDS = 'src/workers/sandbox/backends';

/** The output of `npm run check`, without escape sequences. */
async function check({ lint, tests, teardown }: { lint: string; tests: Record<string, string>; teardown: string }) {
  const scripts = { lint, 'format:check': 'true', knip: 'true', 'docs:check': 'true' };
  await using dir = await tempDir({
    ...Object.fromEntries(SCRIPTS.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])),
    ...tests,
    [`${BACKENDS}/needs.json`]: '[]',
    [`${BACKENDS}/plain/backend.json`]: '{"name": "plain", "isTestDefault": true}',
    'package.json': JSON.stringify({ type: 'module', scripts }),
    node_modules: { symlink: join(ROOT, 'node_modules') },
    'setup.js': `export const teardown = () => { ${teardown} };`,
    'vitest.config.js': `export default {
      cacheDir: '.vite',
      test: { name: 'pure', reporters: ['./scripts/closing-line.mjs'], globalSetup: './setup.js' },
    };`,
  });
  const { PATH, HOME } = process.env;
  const program = [dir.path('scripts/check.mjs'), 'check'];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'ignore'], env: { PATH, HOME } });
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const [, ...lines] = stdout.slice(stdout.indexOf('\nFailed:\n')).trim().split('\n');
  return {
    status,
    closing: lines.pop(),
    failures: lines
      .join('\n')
      .split(/\n(?! )/)
      .toSorted(),
  };
}

test('failed tests, hooks, files, promises and static steps are named before the counts', async () => {
  const one = `
    import { afterAll, describe, expect, test } from 'vitest';
    test('passes', () => {});
    describe('sums', () => {
      test('adds', () => expect(1 + 1).toBe(3));
    });
    describe('hooks', () => {
      afterAll(() => { throw new TypeError('in the hook\\nsecond line'); });
      test('passes too', () => void Promise.reject(new Error('not waited for')));
    });`;
  const tests = { 'one.test.js': one, 'two.test.js': `import './missing.js';` };
  expect(await check({ lint: 'echo a finding; exit 1', tests, teardown: '' })).toEqual({
    status: 1,
    failures: [
      expect.stringMatching(/^Unhandled Rejection during one\.test\.js.*\n {6}Error: not waited for$/),
      'lint',
      'one.test.js (pure) > hooks\n      TypeError: in the hook',
      'one.test.js (pure) > sums > adds\n      AssertionError: expected 2 to be 3 // Object.is equality',
      expect.stringMatching(/^two\.test\.js \(pure\)\n {6}Error: .*missing\.js/),
    ],
    closing: '2 passed, 5 failed, 0 skipped',
  });
});

test('a run of passing tests that vitest ends with an exit code is named too', async () => {
  const tests = { 'one.test.js': `import { test } from 'vitest'; test('passes', () => {});` };
  expect(await check({ lint: 'true', tests, teardown: 'process.exitCode = 1' })).toEqual({
    status: 1,
    failures: ['vitest\n      ended with exit code 1, but no test failed: the reason is in the output above'],
    closing: '1 passed, 1 failed, 0 skipped',
  });
});
