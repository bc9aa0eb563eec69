import { expect, test } from 'vitest';

import { keptAttributes } from '#host';
import { tempDir } from '#testing';
import { checkEdits } from './check-host.ts';

const isLinux = process.platform === 'linux';

test('reports which attributes an edit keeps on this file system', () => {
  const found = (accessLists: boolean, userAttributes: boolean) => checkEdits({ accessLists, userAttributes });
  expect(found(true, true)).toEqual({
    check: 'edits',
    status: 'ok',
    detail: 'access lists and user attributes are kept',
    fix: '',
  });
  expect(found(true, false).detail).toBe(
    'access lists are kept; the file system of the workspace has no user attributes',
  );
  expect(found(false, false).detail).toBe('the file system of the workspace has no access lists or user attributes');
});

test.skipIf(!isLinux)('without koffi reports which attributes an edit loses', () => {
  expect(checkEdits(undefined)).toEqual({
    check: 'edits',
    status: 'warn',
    detail: 'an edited file loses its access list and attributes, and its group all that others do not have',
    fix: 'install the optional package koffi beside Workcell',
  });
});

test.skipIf(!isLinux || !keptAttributes('/'))(
  'checks the file system of the path, also through a symlink',
  async () => {
    await using dir = await tempDir({ proc: { symlink: '/proc' } });
    expect(keptAttributes(dir.root)).toEqual({ accessLists: true, userAttributes: true });
    expect(keptAttributes(dir.path('proc'))).toEqual({ accessLists: false, userAttributes: false });
  },
);
