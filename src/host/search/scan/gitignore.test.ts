import { execFileSync } from 'node:child_process';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toText, type ByteString } from '../../text/byte-string.ts';
import { realPath } from '../../jail/pin-by-path.ts';
import { joinPath, walkDirsBelow } from '../../walk/walk-dir.ts';
import type { WalkPart } from '../../walk/walk-part.ts';
import { Walk } from '../../walk/walk.ts';
import { gitignoreFilter } from './gitignore.ts';
import { parseIgnoreLine } from './ignore-pattern.ts';

const hasGit = (() => {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const FILES = [
  'a.log',
  'keep.log',
  'b.txt',
  'src/a.log',
  'src/deep/a.log',
  'src/deep/x.ts',
  'src/x.ts',
  'build/out.js',
  'src/build/out.js',
  'build.txt',
  'doc/a/b/c.md',
  'doc/c.md',
  'foo bar',
  '!bang',
  '#hash',
  'a[b]',
  'ab',
  'abc',
  'ac',
  'x/y/z',
  'x/y',
  'node_modules/p/i.js',
  'trailing ',
].filter((name, _, all) => !all.some((other) => other.startsWith(`${name}/`)));

/**
 * Entries that the rules do not exclude, by our walk; each step in another filter, without the state of the one before.
 */
function left(root: string, start = ''): string[] {
  const openDir = walkDirsBelow(realPath(root), 'descriptor');
  const found: string[] = [];
  let parts: WalkPart[] = [{ dir: start as ByteString }];
  while (parts.length > 0) {
    const walk = new Walk(openDir, parts, { start: start as ByteString, filter: gitignoreFilter(openDir) });
    const step = walk.next();
    if (step?.kind === 'files') found.push(...step.names.map((name) => toText(joinPath(step.dir.path, name))));
    parts = walk.leave();
  }
  return found;
}

/** Entries that git does not exclude. */
function leftByGit(root: string, files: string[]): string[] {
  execFileSync('git', ['init', '-q', root], { stdio: 'ignore' });
  let ignored = '';
  try {
    ignored = execFileSync(
      'git',
      ['-C', root, '-c', 'core.excludesFile=', 'check-ignore', '--no-index', '-z', '--stdin'],
      {
        input: files.join('\0'),
        encoding: 'utf8',
      },
    );
  } catch (error) {
    // Status 1 stands for no ignored file.
    if ((error as { status?: number }).status !== 1) throw error;
  }
  const set = new Set(ignored.split('\0'));
  return files.filter((file) => !set.has(file));
}

const TABLE: [string, Record<string, string>][] = [
  ['a name at any depth', { '.gitignore': '*.log' }],
  ['taken back', { '.gitignore': '*.log\n!keep.log' }],
  ['the last rule decides', { '.gitignore': '!keep.log\n*.log' }],
  ['directories only', { '.gitignore': 'build/\nb.txt/' }],
  ['anchored by a leading slash', { '.gitignore': '/build\n/a.log' }],
  ['anchored by a slash inside', { '.gitignore': 'src/a.log\nsrc/*.ts' }],
  ['any depth before', { '.gitignore': '**/deep\n**/a.log' }],
  ['any depth after', { '.gitignore': 'doc/**' }],
  ['any depth between', { '.gitignore': 'doc/**/c.md' }],
  ['everything but', { '.gitignore': '/*\n!/src\n/src/*\n!/src/x.ts' }],
  ['nothing is taken back inside a directory left out', { '.gitignore': 'src/\n!src/x.ts' }],
  ['a nested file', { '.gitignore': '*.log', 'src/.gitignore': '!a.log\nx.ts\n/deep/x.ts' }],
  ['comments, blanks and escapes', { '.gitignore': '# no\n\n\\#hash\n\\!bang\nfoo\\ bar\n' }],
  ['trailing spaces', { '.gitignore': 'ab   \ntrailing\\ ' }],
  ['classes', { '.gitignore': 'a[bc]\na[[]b]' }],
  ['negated classes', { '.gitignore': 'a[!b]' }],
  ['ranges', { '.gitignore': 'a[a-b]\n[x-z]/y/?' }],
  ['a question mark is not a slash', { '.gitignore': 'x?y' }],
  ['a star is not a slash', { '.gitignore': '/src*ts\n/s*/x.ts' }],
  ['two stars in a name are one', { '.gitignore': 'a**.log\nsr**c/x.ts' }],
  ['line ends of Windows', { '.gitignore': '*.log\r\nab\r\n' }],
  ['a bracket that is never closed', { '.gitignore': 'a[b\nac' }],
  ['a slash alone', { '.gitignore': '/\nab' }],
];

describe.runIf(process.platform === 'linux')('.gitignore', () => {
  test.runIf(hasGit).each(TABLE)('%s, as git has it', async (_, rules) => {
    await using dir = await tempDir(Object.fromEntries(FILES.map((file): [string, string] => [file, ''])));
    dir.add(rules);
    const files = [...FILES, ...Object.keys(rules)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const ours = left(dir.root);
    expect(ours).toEqual(leftByGit(dir.root, files));
  });

  test('rules above the start of the walk apply, and .git is never walked', async () => {
    await using dir = await tempDir({
      '.gitignore': '*.log\n/src/gen',
      'src/.gitignore': '!b.log',
      'src/a.log': '',
      'src/b.log': '',
      'src/gen/x': '',
      'src/in/c.log': '',
      'src/in/d': '',
      'src/.git/config': '',
    });
    expect(left(dir.root, 'src')).toEqual(['src/.gitignore', 'src/b.log', 'src/in/d']);
    expect(left(dir.root, 'src/in')).toEqual(['src/in/d']);
  });

  test('a pattern made to explode does not', () => {
    const rule = parseIgnoreLine(`${'*a'.repeat(200)}b`)!;
    expect(rule.matches(['a'.repeat(250)])).toBe(false);
    expect(parseIgnoreLine('**/'.repeat(200).concat('x'))!.matches(Array.from({ length: 200 }, () => 'a'))).toBe(false);
  });
});
