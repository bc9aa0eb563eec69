import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CallError } from '#contract';
import { startEngine } from '#testing';
import { engineToken, engineUrl, explainUnreachable, withEngine } from './engine-address.ts';

beforeEach(() => {
  vi.stubEnv('III_URL', undefined);
  vi.stubEnv('WORKCELL_URL', undefined);
  vi.stubEnv('WORKCELL_TOKEN', undefined);
});
afterEach(() => void vi.unstubAllEnvs());

test('cli.C07 the engine URL comes from the option, else the environment, else the default', () => {
  const found = () => [engineUrl({ url: 'ws://given:1' }), engineUrl({})];
  expect(found()).toEqual(['ws://given:1', 'ws://127.0.0.1:49134']);
  vi.stubEnv('III_URL', 'wss://env/');
  expect(found()).toEqual(['ws://given:1', 'wss://env/']);
  vi.stubEnv('WORKCELL_URL', 'ws://ours:2');
  expect(found()).toEqual(['ws://given:1', 'ws://ours:2']);
  vi.stubEnv('III_URL', '');
  vi.stubEnv('WORKCELL_URL', '');
  expect(found()).toEqual(['ws://given:1', 'ws://127.0.0.1:49134']);
});

test.each(['nonsense', '', 'localhost:49134', 'file:///etc/passwd'])('"%s" is not an address', (url) => {
  const message = `"${url}" is not an engine address; expected for example ws://127.0.0.1:49134`;
  expect(() => engineUrl({ url })).toThrow(expect.objectContaining({ name: 'UsageError', message }));
});

test('an empty token is ignored', () => {
  expect([engineToken({}), engineToken({ token: '' }), engineToken({ token: 't' })]).toEqual([
    undefined,
    undefined,
    't',
  ]);
});

test('the connection is closed when its callback returns', async () => {
  await using running = await startEngine({ token: 'secret' });
  const options = { url: running.url, token: 'secret' };
  const bus = await withEngine(options, async (used) => {
    await used.call('engine::workers::list');
    return used;
  });
  await expect(bus.call('engine::workers::list')).rejects.toMatchObject({ code: 'connection_closed' });
});

test('an engine that cannot be reached is reported with what to do', async () => {
  await using running = await startEngine({ token: 'secret' });
  const use = () => Promise.resolve();
  await expect(withEngine({ url: 'ws://127.0.0.1:1' }, use)).rejects.toMatchObject({
    name: 'UnreachableError',
    message: 'cannot reach ws://127.0.0.1:1: ECONNREFUSED. Is it running? Start one with: workcell start',
  });
  await expect(withEngine({ url: running.url }, use)).rejects.toMatchObject({
    name: 'UnreachableError',
    message: `${running.url} refused the connection with HTTP 401. It wants a token: give --token or set WORKCELL_TOKEN`,
  });
});

test('only a failed connection is explained', () => {
  const bug = new TypeError('x');
  expect(() => explainUnreachable(bug)).toThrow(bug);
  expect(() => explainUnreachable(new CallError('', { code: 'connection_failed', message: 'gone' }))).toThrow(
    'gone. Is it',
  );
});
