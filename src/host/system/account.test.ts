import { userInfo } from 'node:os';

import { expect, test } from 'vitest';

import { ownAccount } from './account.ts';

test('the account of this process has its name and home', () => {
  const { username, homedir } = userInfo();
  expect(ownAccount()).toEqual({ name: username, home: homedir });
});

test('a user id without an account is its own name, without a home', () => {
  const missing = () => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  };
  expect(ownAccount(missing)).toEqual({ name: String(process.getuid?.()) });
});
