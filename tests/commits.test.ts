/** The subjects of the newest commits, as CONTRIBUTING.md wants them: `git log --oneline` is read more than any page. */
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

const ROOT = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
/** Older ones are as they are. */
const SINCE = '2026-11-18T20:00:00Z';
const NEWEST = 50;
const MAX_CHARS = 59;

const git = (...words: string[]) => spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' });

/** Why there are no commits to read, or undefined. */
function whyNoHistory(): string | undefined {
  const { status, stdout, error } = git('rev-parse', '--show-toplevel');
  if (error) return 'git is missing';
  return status === 0 && stdout.trim() === ROOT ? undefined : 'no git clone: from an archive, or part of another one';
}

const whyNot = whyNoHistory();

describe.skipIf(whyNot !== undefined)(`commits${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  test('the subject of a commit is `area: verb object`, under 60 characters', () => {
    // A shallow clone has fewer, perhaps none that are new enough.
    const words = ['log', '--no-merges', `--max-count=${NEWEST}`, `--since=${SINCE}`, '--format=%s'];
    const subjects = git(...words)
      .stdout.split('\n')
      .filter((subject) => subject !== '');
    expect(subjects.filter((subject) => !isGood(subject))).toEqual([]);
  });

  test.each([
    ['host: name containments of jobs by that word', true],
    ['cli, docs: list the commands', true],
    ['Name containments', false],
    ['host: Name containments', false],
    ['host: rename', false],
    [`host: name ${'containments '.repeat(5)}`.trim(), false],
  ])('%s', (subject, expected) => {
    expect(isGood(subject)).toBe(expected);
  });
});

function isGood(subject: string): boolean {
  return subject.length <= MAX_CHARS && /^[a-z][\w ,./-]*: [a-z]\S* \S/.test(subject);
}
