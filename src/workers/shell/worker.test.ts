import { describe, expect, test } from 'vitest';

import { ConfigError, parseConfig, silentLog } from '#contract';
import { tempDir } from '#testing';
import { shell } from './index.ts';

const open = async (config: Record<string, unknown>) =>
  await shell.open(parseConfig(shell.config, config, 'workers.shell'), silentLog);

describe('the worker does not start', () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      'unjailed by accident',
      { fs: { host_root: null } },
      'shell.fs.host_root: null opens the whole host; say so with fs.allow_unjailed: true',
    ],
    [
      'without its root',
      { fs: { host_root: '/no/such/root' } },
      'shell.fs.host_root: /no/such/root does not exist (ENOENT)',
    ],
    [
      'on a root that is a file',
      { fs: { host_root: '/etc/passwd' } },
      'shell.fs.host_root: /etc/passwd is not a directory',
    ],
    [
      'without its working directory',
      { working_dir: '/no/such/dir' },
      'shell.working_dir: /no/such/dir is not a directory',
    ],
    [
      'with a broken pattern',
      { denylist_patterns: ['['] },
      'shell.denylist_patterns[0]: regex "[": unclosed character class',
    ],
    [
      'with a rule that its example contradicts',
      { rules: [{ program: 'git', decision: 'deny', reason: 'no', match: ['hg push'] }] },
      'shell.rules[0].match[0]: the rule does not fit "hg push"',
    ],
    [
      'with an unknown key in a rule',
      { rules: [{ programm: 'git' }] },
      'workers.shell.rules.0: unknown key "programm" (did you mean "program"?)',
    ],
    ['with an unknown key in fs', { fs: { root: '/' } }, 'workers.shell.fs: unknown key "root"'],
    [
      'with a timeout that no timer can hold',
      { max_timeout_ms: 2 ** 31 },
      'workers.shell: `max_timeout_ms` must be at most 2147483647',
    ],
    [
      'with a retention that no timer can hold',
      { job_retention_secs: 2 ** 31 },
      'workers.shell: `job_retention_secs` must be at most 2147483',
    ],
  ])('%s', async (_, config, message) => {
    const opening = open(config);
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(message);
  });
});

test('the worker starts unjailed when configured so', async () => {
  const context = await open({ fs: { host_root: null, allow_unjailed: true } });
  expect(context.cwd).toBe(process.cwd());
  await shell.close(context);
});

test('a root named by a link is known by its real path', async () => {
  await using dir = await tempDir({ 'real/': '', link: { symlink: 'real' } });
  const context = await open({ fs: { host_root: dir.path('link') } });
  expect(context.cwd).toBe(dir.path('real'));
  await shell.close(context);
});

test('the start says in words that an empty allowlist allows everything', async () => {
  await using dir = await tempDir();
  const warned: string[] = [];
  const log = { ...silentLog, warn: (text: string) => void warned.push(text) };
  for (const allowlist of [['ls'], []]) {
    const config = parseConfig(shell.config, { allowlist, fs: { host_root: dir.root } }, 'workers.shell');
    await shell.close(await shell.open(config, log));
  }
  expect(warned).toEqual(['shell.allowlist is empty: every program may run']);
});
