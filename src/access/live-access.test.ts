import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { parseConfig } from '#contract';
import { Access } from './access.ts';
import { accessConfig } from './config.ts';
import { LiveAccess } from './live-access.ts';
import { TokenFile } from './tokens/token-file.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const tokenFile = new TokenFile(mkdtempSync(join(tmpdir(), 'live-')));
  const config = parseConfig(accessConfig, {}, 'access');
  return { tokenFile, live: new LiveAccess(new Access({ config, workspace: '/', find: () => undefined, tokenFile })) };
}

test('a token in use is reported as gone once: when removed, replaced or expired', () => {
  const { tokenFile, live } = open();
  const soon = Date.now() + 1_000;
  const [kept, removed, replaced, expiring] = [
    tokenFile.add({ name: 'kept' }),
    tokenFile.add({ name: 'removed' }),
    tokenFile.add({ name: 'replaced', policy: 'look' }),
    tokenFile.add({ name: 'expiring', expiresAtMs: soon }),
  ];
  tokenFile.add({ name: 'never sent' });
  for (const secret of [kept, removed, replaced, expiring]) expect(live.lookUp(secret)).toHaveProperty('token');
  expect(live.takeGone()).toEqual([]);

  for (const name of ['removed', 'replaced', 'never sent']) tokenFile.remove(name);
  const next = tokenFile.add({ name: 'replaced', policy: 'look' });
  expect(live.takeGone()).toEqual(['removed', 'replaced']);
  expect(live.takeGone()).toEqual([]);

  expect(live.lookUp(next)).toHaveProperty('token');
  vi.setSystemTime(soon);
  expect(live.takeGone()).toEqual(['expiring']);
  expect(live.lookUp(expiring)).toEqual({ problem: 'expired' });
});
