/** A broken channel is not an ended one: an upload is stored whole, or the old file stays. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { connect, type Connection } from '#client';
import { CallError, silentLog } from '#contract';
import { startServer, type RunningServer } from '#engine';
import { channelPath, type ChannelRef } from '#protocol';
import {
  IMAGE_PATIENCE_MS,
  rounds,
  serveSandboxes,
  serveWorker,
  tempDir,
  whyNoSandbox,
  type ServedWorker,
} from '#testing';
import { shell } from '#workers/shell';

/** In each of the two places: fifty in all. */
const KILLS = rounds(5, 25, 25);
const AT_ONCE = 5;
const PIECES = 20;
const PIECE_BYTES = 1_000;
const SENDER = fileURLToPath(new URL('upload-sender.mjs', import.meta.url));
const WHOLE = Buffer.concat(Array.from({ length: PIECES }, (_, at) => Buffer.alloc(PIECE_BYTES, `${at},`)));

/** The targets of uploads, and their content afterwards. */
interface Place {
  served: ServedWorker;
  functionId: string;
  code: string;
  request(name: string): object;
  read(name: string): Promise<Buffer>;
  names(): Promise<string[]>;
  close(): Promise<void>;
}

async function hostPlace(): Promise<Place> {
  const dir = await tempDir();
  const served = await serveWorker(shell, { fs: { host_root: dir.root } });
  return {
    served,
    functionId: 'shell::fs::write',
    code: 'S216',
    request: (name) => ({ path: dir.path(name) }),
    read: async (name) => readFileSync(dir.path(name)),
    names: async () => readdirSync(dir.root),
    async close() {
      await served[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function sandboxPlace(): Promise<Place> {
  const served = await serveSandboxes();
  const sandbox_id = await served.create();
  const sh = (line: string) =>
    served.call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv: ['sh', '-c', line], timeout_ms: 60_000 });
  await sh('mkdir /tmp/uploads');
  return {
    served,
    functionId: 'sandbox::fs::write',
    code: 'S218',
    request: (name) => ({ sandbox_id, path: `/tmp/uploads/${name}` }),
    read: async (name) => Buffer.from((await sh(`cat /tmp/uploads/${name}`)).stdout),
    names: async () => (await sh('ls -A /tmp/uploads')).stdout.split('\n').filter((name) => name !== ''),
    close: async () => served[Symbol.asyncDispose](),
  };
}

const why = await whyNoSandbox(['python']);
const places: [string, () => Promise<Place>, string | undefined][] = [
  ['shell::fs::write', hostPlace, undefined],
  ['sandbox::fs::write', sandboxPlace, why],
];

describe.each(places)('%s', (_name, open, reason) => {
  describe.skipIf(reason !== undefined)(reason ?? 'through a channel', () => {
    let place: Place;
    let server: RunningServer;
    let peer: Connection;
    beforeAll(async () => {
      place = await open();
      server = await startServer(place.served.engine, { host: '127.0.0.1', port: 0, log: silentLog });
      peer = await connect(server.url, { name: 'caller' });
    }, IMAGE_PATIENCE_MS);
    afterAll(async () => {
      peer?.close();
      await place?.close();
      await server?.close();
    });

    /** Writes an old file and begins an upload over it. */
    async function beginUpload(name: string): Promise<{ writer: ChannelRef; ending: Promise<string> }> {
      await peer.call(place.functionId, { ...place.request(name), content: 'old' });
      const { reader, writer } = await peer.createChannel();
      const writing = peer.call(place.functionId, { ...place.request(name), content: reader }, { timeoutMs: 60_000 });
      const ending = writing.then(
        () => 'written',
        (error: unknown) => (error instanceof CallError ? error.code : String(error)),
      );
      return { writer, ending };
    }

    const ways: [string, (socket: WebSocket) => void][] = [
      ['is terminated', (socket) => socket.terminate()],
      ['closes with 1001', (socket) => socket.close(1001)],
      ['closes with 1011', (socket) => socket.close(1011, 'keepalive ping timeout')],
      ['breaks the protocol', (socket) => rawSocketOf(socket).write(Buffer.from([0xff, 0xff, 0xff]))],
    ];
    test.each(ways)('bus.P21 an upload whose sender %s is refused, and the old file stays', async (way, end) => {
      const name = way.replaceAll(' ', '-');
      const { writer, ending } = await beginUpload(name);
      const socket = await openEnd(server.url, writer);
      await new Promise((sent) => socket.send(Buffer.from('half'), sent));
      end(socket);

      expect(await ending).toBe(place.code);
      expect(String(await place.read(name))).toBe('old');
      expect((await place.names()).filter((found) => found.includes(name))).toEqual([name]);
    });

    test.each([
      ['1000', (socket: WebSocket) => socket.close(1000)],
      ['no code, as the SDK for Rust does', (socket: WebSocket) => socket.close()],
    ])('an upload whose sender closes with %s is whole', async (_way, end) => {
      const { writer, ending } = await beginUpload('whole');
      const socket = await openEnd(server.url, writer);
      await new Promise((sent) => socket.send(Buffer.from('all'), sent));
      end(socket);

      expect(await ending).toBe('written');
      expect(String(await place.read('whole'))).toBe('all');
    });

    test(`${KILLS} uploading processes are killed, each at a random point`, { timeout: 240_000 }, async () => {
      const counts = { kept: 0, whole: 0 };
      for (let from = 0; from < KILLS; from += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, (_, at) => killOne(`f${from + at}`, (from + at) % 2 === 0));
        for (const outcome of await Promise.all(batch)) counts[outcome]++;
      }
      expect(counts.kept + counts.whole).toBe(KILLS);
      expect(counts.kept).toBeGreaterThanOrEqual(KILLS / 2);
      expect((await place.names()).filter((name) => !/^(f\d+|[a-z0-9-]+)$/.test(name))).toEqual([]);
    });

    /** A sender that does not stop may end before the kill arrives. */
    async function killOne(name: string, isStopped: boolean): Promise<'kept' | 'whole'> {
      const { writer, ending } = await beginUpload(name);
      const at = Math.floor(Math.random() * PIECES) + 1;
      const args = [
        SENDER,
        server.url,
        JSON.stringify(writer),
        `${PIECES}`,
        `${PIECE_BYTES}`,
        isStopped ? `${at}` : '',
      ];
      const sender = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const gone = once(sender, 'exit');
      for await (const line of createInterface(sender.stdout)) {
        if (Number(line) >= at) break;
      }
      sender.kill('SIGKILL');
      await gone;

      const outcome = await ending;
      const found = await place.read(name);
      if (outcome === 'written') expect(found.equals(WHOLE), `${name} was called written at ${at}`).toBe(true);
      else expect([outcome, String(found)]).toEqual([place.code, 'old']);
      if (isStopped) expect(outcome).toBe(place.code);
      return outcome === 'written' ? 'whole' : 'kept';
    }
  });
});

function rawSocketOf(socket: WebSocket): NodeJS.WritableStream {
  return (socket as unknown as { _socket: NodeJS.WritableStream })._socket;
}

async function openEnd(url: string, ref: ChannelRef): Promise<WebSocket> {
  const socket = new WebSocket(url + channelPath(ref));
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}
