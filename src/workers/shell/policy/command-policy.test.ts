import { expect, test } from 'vitest';

import { ConfigError } from '#contract';
import { tempDir, type TempDir } from '#testing';
import type { Argv } from '../argv.ts';
import { CommandPolicy } from './command-policy.ts';

const program = { content: '#!/bin/sh\n', mode: 0o755 };

interface Setting {
  allowlist?: string[];
  denylist_patterns?: string[];
  /** Directories of the PATH, in the temporary one. */
  path?: string[];
  cwd?: string;
}

/**
 * The decision of the policy about a command in a tree with `bin`, a PATH directory, and `root`, where agents write.
 */
async function judge(argv: (dir: TempDir) => string[], setting: Setting = {}, kind: 'host' | 'sandbox' = 'host') {
  await using dir = await tempDir({
    'bin/ls': program,
    'bin/plain': { content: 'not executable', mode: 0o644 },
    'bin/sub/': '',
    'other/ls': program,
    'other/link': { symlink: '../bin/ls' },
    usr: { symlink: 'bin' },
    'root/ls': program,
    'root/link-to-ls/ls': { symlink: '../../bin/ls' },
    'linked/ls': { symlink: '../root/ls' },
    'root/empty/': '',
    'to-root': { symlink: 'root/empty' },
  });
  const { allowlist = ['ls', 'cat'], denylist_patterns = [], path = ['bin'], cwd = 'bin' } = setting;
  const policy = new CommandPolicy({ allowlist, denylist_patterns, rules: [] }, dir.path('root'));
  const lookup = { path: path.map((name) => dir.path(name)).join(':'), cwd: dir.path(cwd) };
  const given = argv(dir);
  try {
    return (await policy.admit(given as unknown as Argv, { kind, ...lookup })).replace(dir.root, '');
  } catch (error) {
    return (error as Error).message;
  }
}

test.each<[string, (dir: TempDir) => string[], Setting, string]>([
  ['a listed name runs', () => ['ls', '-la'], {}, 'ls'],
  ['a listed name that PATH does not find is left to fail at the start', () => ['cat'], {}, 'cat'],
  ['a name that is not listed is refused', () => ['nmap'], {}, "command 'nmap' not in allowlist"],
  ['a line in one word is the name of one program', () => ['ls -la'], {}, "command 'ls -la' not in allowlist"],
  ['a path that PATH finds runs as the entry that was judged', (dir) => [dir.path('bin/ls')], {}, '/bin/ls'],
  ['so does another way to the same directory', (dir) => [dir.path('usr/ls')], {}, '/bin/ls'],
  ['so does a relative path', () => ['./ls'], {}, '/bin/ls'],
  [
    'the same name in a directory that is not on PATH is refused',
    (dir) => [dir.path('other/ls')],
    {},
    "command 'ls' not in allowlist by a path other than PATH's",
  ],
  [
    'so is one in a later directory of PATH',
    (dir) => [dir.path('other/ls')],
    { path: ['bin', 'other'] },
    "command 'ls' not in allowlist by a path other than PATH's",
  ],
  [
    'a link elsewhere to the program may name another one later, so it is refused',
    (dir) => [dir.path('root/link-to-ls/ls')],
    {},
    "command 'ls' not in allowlist by a path other than PATH's",
  ],
  [
    'a path of another name is refused by that name',
    (dir) => [dir.path('other/link')],
    {},
    "command 'link' not in allowlist",
  ],
  [
    'a file that is not executable is not what PATH finds',
    (dir) => [dir.path('bin/plain')],
    { allowlist: ['plain'] },
    "command 'plain' not in allowlist by a path other than PATH's",
  ],
  [
    'nor is a directory',
    (dir) => [dir.path('bin/sub')],
    { allowlist: ['sub'] },
    "command 'sub' not in allowlist by a path other than PATH's",
  ],
  [
    'shell.X12 a name that PATH finds where agents write is refused',
    () => ['ls'],
    { path: ['root', 'bin'] },
    "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
  ],
  [
    'shell.X12 so is its path',
    (dir) => [dir.path('root/ls')],
    { path: ['root'] },
    "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
  ],
  [
    'so is a link of the agent to a program elsewhere',
    () => ['ls'],
    { path: ['root/link-to-ls'] },
    "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
  ],
  [
    'a program runs by its path when agents could put another one before it on PATH',
    () => ['ls'],
    { path: ['root/empty', 'bin'] },
    '/bin/ls',
  ],
  [
    'so it does when a link on PATH names a folder where they write',
    () => ['ls'],
    { path: ['to-root', 'bin'] },
    '/bin/ls',
  ],
  [
    'a program that is not there does not appear meanwhile',
    () => ['cat'],
    { path: ['root', 'bin'] },
    "command 'cat' not found on PATH: install it",
  ],
  [
    'so is one that an empty PATH finds in the current directory',
    () => ['ls'],
    { path: [], cwd: 'root' },
    "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
  ],
  [
    'so is a link on PATH that leads there',
    () => ['ls'],
    { path: ['linked'] },
    "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
  ],
  ['shell.X15 an empty list allows every program', (dir) => [dir.path('other/ls')], { allowlist: [] }, '/other/ls'],
])('shell.P2 %s', async (_, argv, setting, outcome) => {
  expect(await judge(argv, setting)).toBe(outcome);
});

test('an exact path that the operator lists runs, wherever it is', async () => {
  await using dir = await tempDir({ tool: program });
  const policy = new CommandPolicy({ allowlist: [dir.path('tool')], denylist_patterns: [], rules: [] }, dir.root);
  const target = { kind: 'host', path: '', cwd: '/' } as const;
  expect(await policy.admit([dir.path('tool')], target)).toBe(dir.path('tool'));
  await expect(policy.admit(['tool'], target)).rejects.toThrow("command 'tool' not in allowlist");
});

test.each([
  ['ls', 'ls'],
  ['/anywhere/ls', '/anywhere/ls'],
  ['/anywhere/nmap', "command 'nmap' not in allowlist"],
])('shell.X39 in a sandbox %s is judged by its name alone', async (given, outcome) => {
  expect(await judge(() => [given], {}, 'sandbox')).toBe(outcome);
});

test.each([
  [
    'shell.X13 names the pattern that is found anywhere in the words',
    ['ls', 'deny_marker'],
    'command matches denylist: deny_.*r',
  ],
  ['sees words joined by one space', ['ls', 'a', 'b'], String.raw`command matches denylist: a\sb`],
  ['is asked after the allowlist', ['nmap', 'deny_marker'], "command 'nmap' not in allowlist"],
  ['lets the rest pass', ['ls', 'marker'], 'ls'],
])('the denylist %s', async (_, argv, outcome) => {
  expect(await judge(() => argv, { denylist_patterns: ['deny_.*r', String.raw`a\sb`] })).toBe(outcome);
});

test('a pattern that does not compile is a refusal to start that names it', () => {
  const make = () => new CommandPolicy({ allowlist: [], denylist_patterns: ['ok', '('], rules: [] });
  expect(make).toThrow(ConfigError);
  expect(make).toThrow(/^shell\.denylist_patterns\[1\]: regex "\(": unclosed group/);
});
