/** A network between client and engine with a configurable delay, which can fail on one side only. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface TcpProxy extends AsyncDisposable {
  readonly url: string;
  /** Connections taken so far. */
  readonly taken: number;
  /** Cuts the clients off; the engine's sides stay open and silent, as after a pulled cable. */
  cutClients(): void;
}

export async function startProxy(targetPort: number, bytesPerSecond = Infinity): Promise<TcpProxy> {
  const near = new Set<Socket>();
  const far = new Set<Socket>();
  let taken = 0;
  const server = createServer((client) => {
    taken += 1;
    const upstream = connect(targetPort, '127.0.0.1');
    near.add(client);
    far.add(upstream);
    client.pipe(slowly(bytesPerSecond)).pipe(upstream);
    upstream.pipe(slowly(bytesPerSecond)).on('data', (chunk) => !client.destroyed && client.write(chunk));
    upstream.on('close', () => client.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get taken() {
      return taken;
    },
    cutClients() {
      for (const socket of near) socket.destroy();
      near.clear();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...near, ...far]) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function slowly(bytesPerSecond: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const delayMs = (chunk.length / bytesPerSecond) * 1_000;
      if (delayMs < 1) done(null, chunk);
      else setTimeout(() => done(null, chunk), delayMs);
    },
  });
}
