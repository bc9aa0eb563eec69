/** Saving against a fake QEMU, for behaviour that the real one cannot be made to show. */
import { duplexPair } from 'node:stream';

import { expect, test } from 'vitest';

import { Qmp } from '../qmp.ts';
import { saveMachine, SharedMemoryRefused } from './save-machine.ts';

/** Answers each command as the table says, and `{}` otherwise. */
function qemu(answers: Record<string, (args: { capabilities?: { capability: string }[] }) => object[]>): {
  qmp: Qmp;
  asked: string[];
} {
  const [ours, theirs] = duplexPair();
  const asked: string[] = [];
  theirs.on('data', (piece: Buffer) => {
    for (const line of piece.toString().trim().split('\n')) {
      const { execute, arguments: args = {} } = JSON.parse(line) as { execute: string; arguments?: object };
      asked.push(execute);
      for (const reply of answers[execute]?.(args) ?? [{ return: {} }]) theirs.write(`${JSON.stringify(reply)}\n`);
    }
  });
  return { qmp: new Qmp(ours), asked };
}

const migration = (status: string) => ({ event: 'MIGRATION', data: { status } });
const refusing = ({ capabilities = [] }: { capabilities?: { capability: string }[] }) =>
  capabilities.some(({ capability }) => capability === 'x-ignore-shared')
    ? [{ error: { class: 'GenericError', desc: 'no such capability' } }]
    : [{ return: {} }];

test('it has ended when QEMU says so', async () => {
  const { qmp, asked } = qemu({ migrate: () => [{ return: {} }, migration('active'), migration('completed')] });
  await saveMachine(qmp, { uri: 'unix:/state', ram: 'file' });
  expect(asked).toEqual(['qmp_capabilities', 'migrate-set-capabilities', 'migrate-set-capabilities', 'migrate']);
});

test('a QEMU that does not leave memory out differs from one that fails', async () => {
  const { qmp, asked } = qemu({ 'migrate-set-capabilities': refusing });
  await expect(saveMachine(qmp, { uri: 'unix:/state', ram: 'file' })).rejects.toBeInstanceOf(SharedMemoryRefused);
  expect(asked).not.toContain('migrate');
});

test('the same QEMU saves memory as a stream', async () => {
  const { qmp } = qemu({
    'migrate-set-capabilities': refusing,
    migrate: () => [{ return: {} }, migration('completed')],
  });
  await saveMachine(qmp, { uri: 'unix:/state', ram: 'stream' });
});

test.each([
  ['refuses', [{ error: { class: 'GenericError', desc: 'not now' } }], {}, 'not now'],
  [
    'fails half way',
    [{ return: {} }, migration('failed')],
    { 'error-desc': 'No space left' },
    'machine: No space left;',
  ],
  ['gives no reason', [{ return: {} }, migration('failed')], {}, 'machine: QEMU gives no reason; check'],
])('a QEMU that %s is reported as such', async (_, answers, state, reason) => {
  const { qmp } = qemu({ migrate: () => answers, 'query-migrate': () => [{ return: state }] });
  await expect(saveMachine(qmp, { uri: 'unix:/state', ram: 'file' })).rejects.toThrow(reason);
});
