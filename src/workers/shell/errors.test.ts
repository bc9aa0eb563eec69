/** Where the codes of shell differ from, or agree with, those of the other worker with the same operations. */
import { expect, test } from 'vitest';

import { FileFault, HostError, NoTerminalError } from '#host';
import { translate } from './errors.ts';

test.each([
  ['S215', new HostError('dangling', '/x')],
  ['S210', new HostError('invalid-name', '/x')],
  ['S218', new FileFault('too-large', 'x is too large')],
  ['S216', new FileFault('stream', 'the sender broke off')],
  ['S222', new NoTerminalError()],
])('%s reports %s', (code, error) => {
  expect(translate(error)?.code).toBe(code);
});
