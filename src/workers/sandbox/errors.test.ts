/** Where the codes of sandbox differ from, or agree with, those of the other worker with the same operations. */
import { expect, test } from 'vitest';

import { FileFault, HostError } from '#host';
import { translate } from './errors.ts';

test.each([
  ['S211', new HostError('dangling', '/x')],
  ['S210', new HostError('invalid-name', '/x')],
  ['S216', new FileFault('too-large', 'x is too large')],
  ['S218', new FileFault('stream', 'the sender broke off')],
])('%s tells of %s', (code, error) => {
  expect(translate(error)?.code).toBe(code);
});
