import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { Workspace } from './workspace.ts';

const needs = { protect: ['**/.env'], maxFileBytes: 1000 };

test('http.P10 what is shared ends with the last that holds it, and starts anew', async () => {
  await using dir = await tempDir({ f: '' });
  const [one, two, other] = [
    new Workspace(dir.root, needs),
    new Workspace(dir.root, needs),
    new Workspace(dir.root, { ...needs, protect: [] }),
  ];
  expect(two.regexes).toBe(one.regexes);
  expect(other.regexes).not.toBe(one.regexes);
  expect([one.protects('.env'), other.protects('.env'), one.protects('f')]).toEqual([true, false, false]);
  expect([one.isHidden?.(`${dir.root.slice(1)}/.env`), other.isHidden]).toEqual([true, undefined]);

  const { regexes } = one;
  await one.close();
  await expect(two.regexes.find({ pattern: 'a', ignoreCase: false, text: Buffer.from('a') }, scope())).resolves.toEqual(
    {
      start: 0,
      end: 1,
    },
  );
  await two.close();
  await expect(regexes.find({ pattern: 'a', ignoreCase: false, text: Buffer.from('a') }, scope())).rejects.toThrow(
    'closed',
  );
  const again = new Workspace(dir.root, needs);
  expect(again.regexes).not.toBe(regexes);
  await again.close();
  await other.close();
});

test('each searches with limits of its own', async () => {
  await using dir = await tempDir({
    small: 'needle',
    large: `needle${'.'.repeat(100)}`,
    own: 'needle',
    '.env': 'needle',
  });
  const [wide, narrow] = [
    new Workspace(dir.root, needs),
    new Workspace(dir.root, { ...needs, maxFileBytes: 50, own: { globs: ['own'] } }),
  ];
  const query = { pattern: 'needle', isRegex: false, ignoreCase: false, wantsContent: true, wantsPaths: false };
  const request = {
    path: '.',
    query: { ...query, maxMatches: 9, maxLineBytes: 9, contextLines: 0 },
    includeGlobs: [],
    excludeGlobs: [],
  };
  const found = async (workspace: Workspace) =>
    (await workspace.search(request, scope())).contentMatches.map(({ path }) => path);
  try {
    expect([await found(wide), await found(narrow)]).toEqual([['large', 'own', 'small'], ['small']]);
  } finally {
    await wide.close();
    await narrow.close();
  }
});

const scope = () => ({ signal: new AbortController().signal });
