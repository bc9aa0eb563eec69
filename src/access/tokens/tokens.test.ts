import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { configuredTokens, lookUp, sha256Of } from './token-book.ts';
import { TokenFile } from './token-file.ts';

const stateDir = () => mkdtempSync(join(tmpdir(), 'tokens-'));

test('a token is found by its secret, until it expires', () => {
  const entries = configuredTokens(
    [
      { name: 'ci', sha256: sha256Of('one').toUpperCase(), policy: 'read-only' },
      { name: 'guest', env: 'GUEST', expires: '2027-01-01' },
    ],
    { GUEST: 'two' },
  );
  expect(lookUp(entries, 'one')).toEqual({ token: { name: 'ci', policy: 'read-only' } });
  const newYear = Date.UTC(2027, 0, 1);
  expect(lookUp(entries, 'two', newYear - 1)).toEqual({ token: { name: 'guest', policy: undefined } });
  expect(lookUp(entries, 'two', newYear)).toEqual({ problem: 'expired' });
  expect(lookUp(entries, 'three')).toEqual({ problem: 'unknown' });
  expect(lookUp(entries, '')).toEqual({ problem: 'unknown' });
});

test('a variable without a secret is refused: every empty guess would be right', () => {
  for (const env of [{}, { CI: '' }]) {
    expect(() => configuredTokens([{ name: 'ci', env: 'CI' }], env)).toThrow(
      'access.tokens[0]: environment variable CI is not set',
    );
  }
});

test('the file holds hashes, is private, and a change shows in another reader at once', () => {
  const dir = stateDir();
  const file = new TokenFile(dir);
  const reader = new TokenFile(dir);
  expect(reader.entries()).toEqual([]);

  const secret = file.add({ name: 'ci', policy: 'look' });
  expect(secret).toMatch(/^wct_[\w-]{43}$/);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(readFileSync(file.path, 'utf8')).not.toContain(secret);
  expect(lookUp(reader.entries(), secret)).toEqual({ token: { name: 'ci', policy: 'look' } });

  expect(() => file.add({ name: 'ci' })).toThrow('a token "ci" exists');
  expect(file.remove('ci')).toBe(true);
  expect(file.remove('ci')).toBe(false);
  expect(lookUp(reader.entries(), secret)).toEqual({ problem: 'unknown' });
});

test('a file that is damaged while a server runs is reported once, and the tokens stay', () => {
  const dir = stateDir();
  const secret = new TokenFile(dir).add({ name: 'ci' });
  const damages: string[] = [];
  const onDamaged = ({ message }: Error) => void damages.push(message);
  const running = new TokenFile(dir, { onDamaged });
  expect(running.entries()).toHaveLength(1);
  writeFileSync(running.path, '{');
  for (let request = 0; request < 3; request++) expect(lookUp(running.entries(), secret)).toHaveProperty('token');
  expect(damages).toEqual([expect.stringContaining('is not a list of tokens')]);
  expect(() => new TokenFile(dir, { onDamaged }).list()).toThrow('is not a list of tokens');
  writeFileSync(running.path, '{"version":1,"tokens":[]}');
  expect(running.entries()).toEqual([]);
});

test('a damaged file is refused, not read as an empty list', () => {
  const file = new TokenFile(stateDir());
  file.add({ name: 'ci' });
  for (const text of ['', '{', '{"version":1}', '{"version":2,"tokens":[]}']) {
    writeFileSync(file.path, text);
    expect(() => new TokenFile(join(file.path, '..')).list()).toThrow('is not a list of tokens');
  }
});
