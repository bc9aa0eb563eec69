import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { portOwner } from './port-owner.ts';

const isLinux = process.platform === 'linux';

/** Listens under a process name of its own choice, and prints the port. */
const LISTENER = `
process.title = 'own\\x1b[31m';
const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

test.skipIf(!isLinux)('the listener is named, without escape sequences in its name', async () => {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    expect(portOwner(Number(port))).toBe(`own?[31m (process ${child.pid})`);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
});

test('a port without a listener has no owner', () => {
  expect(portOwner(1)).toBeUndefined();
});
