/** The cost of a call's caller in the engine, as a share of the rest of the call. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { decodeFrame, encodeFrame, type Frame, type Link, type LinkEvents } from '#protocol';
import { Engine } from '../engine.ts';

const ECHO = 'test::echo';
const CALLS = 5_000;

/** A socket without the system calls: bytes in, bytes out. */
class ByteLink implements Link {
  last: Uint8Array = Buffer.alloc(0);
  #events!: LinkEvents;

  attach(events: LinkEvents): void {
    this.#events = events;
  }

  send(frame: Frame, encoded?: Uint8Array): 'sent' {
    this.last = encoded ?? Buffer.from(encodeFrame(frame)!);
    return 'sent';
  }

  close(): void {}

  receive(bytes: Buffer): void {
    const decoded = decodeFrame(bytes.toString());
    if ('problem' in decoded) throw new Error(decoded.problem);
    this.#events.frame(decoded.frame, bytes);
  }
}

const bytesOf = (frame: object) => Buffer.from(JSON.stringify(frame));

function connected(features: string[]) {
  const engine = new Engine();
  const [worker, client] = [new ByteLink(), new ByteLink()];
  for (const link of [worker, client]) {
    engine.connect(link, { remoteAddress: '127.0.0.1' });
    const data = { name: 'peer', runtime: 'node', version: '1', os: 'linux', features };
    const head = { type: 'invokefunction', invocation_id: randomUUID() };
    link.receive(bytesOf({ ...head, function_id: 'engine::workers::register', data }));
  }
  worker.receive(bytesOf({ type: 'registerfunction', id: ECHO }));
  const ids = { invocation_id: randomUUID(), function_id: ECHO };
  const call = bytesOf({ type: 'invokefunction', ...ids, data: { text: 'x'.repeat(189) } });
  const result = bytesOf({ type: 'invocationresult', ...ids, result: { text: 'x'.repeat(189) } });
  const round = () => {
    const startedAt = performance.now();
    for (let left = CALLS; left > 0; left -= 1) {
      client.receive(call);
      worker.receive(result);
    }
    return performance.now() - startedAt;
  };
  return { engine, worker, client, result, round };
}

test('sending the caller to a worker costs the engine less than half a call', async () => {
  const plain = connected([]);
  const asking = connected(['caller', 'events', 'changes']);
  await expect.poll(() => plain.worker.last.length * asking.worker.last.length).toBeGreaterThan(0);
  let best = [Infinity, Infinity] as const;
  for (let rounds = 15; rounds > 0; rounds -= 1) {
    best = [Math.min(best[0], plain.round()), Math.min(best[1], asking.round())];
  }
  expect(plain.worker.last.toString()).not.toContain('"caller"');
  expect(asking.worker.last.toString()).toContain('"caller":{"id":"local:');
  expect(Buffer.from(asking.client.last).equals(asking.result)).toBe(true);
  expect(best[1] / best[0]).toBeLessThan(1.5);
  plain.engine.close();
  asking.engine.close();
});
