/** Where the codes of sandbox differ from, or agree with, those of the other worker with the same operations. */
import { expect, test } from 'vitest';

import { FileFault, HostError } from '#host';
import { AgentTooOld } from '#sandbox/guest';
import { spell } from './errors.ts';
import { translate } from './translate.ts';

test.each([
  ['S211', new HostError('dangling', '/x')],
  ['S210', new HostError('invalid-name', '/x')],
  ['S216', new FileFault('too-large', 'x is too large')],
  ['S218', new FileFault('stream', 'the sender broke off')],
])('%s reports %s', (code, error) => {
  expect(translate(error)?.code).toBe(code);
});

test('live.D10 an agent that is older than a request says its version and what to do', () => {
  const failure = translate(new AgentTooOld('a terminal', { version: 1, needed: 2 }))!;
  expect(spell(failure)).toMatchObject({
    code: 'invocation_failed',
    message: expect.stringMatching(
      /"code":"S219".*create another with sandbox::create.*speaks version 1 .*needs version 2/,
    ),
  });
});
