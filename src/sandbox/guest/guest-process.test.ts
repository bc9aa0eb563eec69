import { expect, test } from 'vitest';

import { Execution } from '#host';
import { OP } from './frames.ts';
import { GuestProcess } from './guest-process.ts';
import { GuestStream } from './guest-stream.ts';

test('a command whose caller left while it waited for its turn is ended when that comes', async () => {
  const leaver = new AbortController();
  const sent: number[] = [];
  const guest = {
    version: 2,
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
  const { signal } = leaver;
  const command = { argv: ['sleep', '60'], env: [], cwd: '/', maxOutputBytes: 1 };
  const process = await GuestProcess.start(guest, command, signal);
  expect(await new Execution(process, { maxOutputBytes: 1, signal }).done).toMatchObject({
    exitCode: null,
    signal: 'SIGKILL',
    timedOut: false,
  });
  expect(sent).toEqual([OP.cancel]);
});
