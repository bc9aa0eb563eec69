import { expect, test } from 'vitest';

import { startRegistry } from '#testing';
import { REGISTRY_DEFAULTS, RegistryHttp } from './registry-http.ts';

const signal = new AbortController().signal;

test('speaks without TLS to this machine only', async () => {
  await using registry = await startRegistry({ manifests: { v1: Buffer.from('{}') }, blobs: new Map() });
  const [, port = ''] = registry.host.split(':');
  const ask = async (host: string) => {
    const http = new RegistryHttp({ host, path: 'a', version: 'v1' }, REGISTRY_DEFAULTS);
    return (await http.get('manifests/v1', { headers: {}, signal })).status;
  };
  // 0.0.0.0 reaches this machine as well, though it is not a loopback address.
  expect(await ask(`127.0.0.1:${port}`)).toBe(200);
  await expect(ask(`0.0.0.0:${port}`)).rejects.toMatchObject({ reason: 'unreachable' });
  expect(registry.requests).toHaveLength(1);
});
