import { expect, test } from 'vitest';

import { execute } from './execute.ts';
import { OP } from './frames.ts';
import { GuestStream } from './guest-stream.ts';

test('a command whose caller left while it waited for its turn is ended when that comes', async () => {
  const leaver = new AbortController();
  const sent: number[] = [];
  const guest = {
    async request() {
      leaver.abort(new Error('left'));
      const stream: GuestStream = new GuestStream(1, (id, op) => {
        sent.push(op);
        stream.take({ stream: id, op: OP.done, payload: Buffer.from([137, 4]) });
        return undefined;
      });
      return stream;
    },
  };
  const spec = { argv: ['sleep', '60'], env: [], cwd: '/', maxOutputBytes: 1, timeoutMs: 5000, signal: leaver.signal };
  await expect(execute(guest, spec)).rejects.toThrow('left');
  expect(sent).toEqual([OP.cancel]);
});
