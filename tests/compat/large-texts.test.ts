/** A large file goes to the wire as bytes and never becomes a string: every kind of caller gets the same text. */
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import { httpDoor } from '#surfaces/http';
import { startEngine, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { connectSdk, versions } from './support/clients.ts';

const MiB = 1024 * 1024;
const files = {
  empty: '',
  small: 'a "small" file\n',
  plain: 'const value = "text";\t// \\ and so on\n'.repeat(100_000),
  windows: 'line\r\n'.repeat(200_000),
  accents: 'süß, 日本 and 😀\u2028\n'.repeat(50_000),
  controls: Buffer.from(Array.from({ length: 128 }, (_, code) => code))
    .toString()
    .repeat(5_000),
  'no text': Buffer.alloc(MiB, Buffer.from([0x61, 0xff, 0xc3, 0x28])),
};
const names = Object.keys(files);

let dir: TempDir;
beforeAll(async () => {
  dir = await tempDir(files);
});
afterAll(() => dir[Symbol.asyncDispose]());

/** coder beside the engine, or on a socket of its own. */
async function serve(place: 'in process' | 'on a socket', limits = {}) {
  const running = await startEngine({ limits, onRequest: (incoming, outgoing) => door(incoming, outgoing) });
  const { engine, url } = running;
  const bus = await connect(engine.dialer());
  const door = httpDoor(bus, { version: '1', busErrors: [], maxBodyBytes: MiB });
  const worker = await connect(place === 'in process' ? engine.dialer() : url, { name: 'coder' });
  worker.serve({
    def: coder,
    context: await coder.open(parseConfig(coder.config, { base_path: dir.root }, 'coder'), silentLog),
  });
  await worker.call('engine::workers::list');
  return {
    url,
    bus,
    async [Symbol.asyncDispose]() {
      worker.close();
      await running[Symbol.asyncDispose]();
    },
  };
}

describe.each(['in process', 'on a socket'] as const)('coder %s', (place) => {
  test.each(versions)('the published client %s gets the text of every file', async (version) => {
    await using served = await serve(place);
    await using sdk = connectSdk(version, served.url);
    for (const path of names) {
      const { content } = await sdk.trigger({ function_id: 'coder::read-file', payload: { path } });
      expect([path, content === readFileSync(dir.path(path), 'utf8')]).toEqual([path, true]);
    }
  });

  test.each(names)('over HTTP %j is what JSON.stringify gives of the same answer', async (path) => {
    await using served = await serve(place);
    const asked = { method: 'POST', body: JSON.stringify({ path }) };
    const response = await fetch(`${served.url.replace('ws', 'http')}/functions/coder/read-file`, asked);
    const [body, result] = [
      Buffer.from(await response.arrayBuffer()),
      await served.bus.call('coder::read-file', { path }),
    ];
    const { status, headers } = response;
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
      200,
      'application/json',
      String(body.length),
    ]);
    expect(body.equals(Buffer.from(JSON.stringify(result)))).toBe(true);
    expect((result as { content: string }).content === readFileSync(dir.path(path), 'utf8')).toBe(true);
  });

  test('the limit on a message counts what is sent, not what was read', async () => {
    await using served = await serve(place, { maxMessageBytes: MiB });
    await using sdk = connectSdk(versions[0], served.url);
    const read = (path: string) => sdk.trigger({ function_id: 'coder::read-file', payload: { path } });
    await expect(read('controls')).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await read('small')).toMatchObject({ content: files.small });
  });
});
