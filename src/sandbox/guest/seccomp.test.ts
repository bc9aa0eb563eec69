/** Results of the filter, whose program is run as the kernel would, for both processors. */
import { describe, expect, test } from 'vitest';

import { seccompFilter } from './seccomp.ts';

const ALLOW = 'allow';
const ERRNO_OF = (value: number) => `errno ${value & 0xffff}`;
const ACTIONS: Record<number, (value: number) => string> = {
  0x7fff: () => ALLOW,
  0x0005: ERRNO_OF,
  0x8000: () => 'kill',
};

const NEW_USER = 0x1000_0000;
const THREAD = 0x0001_0f00;

describe.each([
  [
    'x64',
    0xc000_003e,
    { read: 0, mount: 165, keyctl: 250, ioSetup: 206, clone: 56, socket: 41, socketpair: 53, ptrace: 101, last: 462 },
  ],
  [
    'arm64',
    0xc000_00b7,
    { read: 63, mount: 40, keyctl: 219, ioSetup: 0, clone: 220, socket: 198, socketpair: 199, ptrace: 117, last: 462 },
  ],
] as const)('on %s', (processor, arch, numbers) => {
  const program = seccompFilter(processor);
  const answer = (number: number, argument = 0, by: number = arch) => run(program, { number, arch: by, argument });

  test.each([
    ['reading', numbers.read, 0, ALLOW],
    ['tracing', numbers.ptrace, 0, ALLOW],
    ['what is newer than the filter', numbers.last, 0, ALLOW],
    ['mounting', numbers.mount, 0, 'errno 1'],
    ['kernel keys', numbers.keyctl, 0, 'errno 1'],
    ['contexts of asynchronous input', numbers.ioSetup, 0, 'errno 1'],
    ['a thread', numbers.clone, THREAD, ALLOW],
    ['a process in a new user namespace', numbers.clone, THREAD | NEW_USER, 'errno 1'],
    ['clone3', 435, 0, 'errno 38'],
    ['an internet socket', numbers.socket, 2, ALLOW],
    ['a pair of unix sockets', numbers.socketpair, 1, ALLOW],
    ['netlink', numbers.socket, 16, ALLOW],
    ['vsock', numbers.socket, 40, 'errno 97'],
    ['a packet socket', numbers.socket, 17, 'errno 97'],
  ])('%s is answered as meant', (_, number, argument, expected) => {
    expect(answer(number, argument)).toBe(expected);
  });

  test('a call of another processor ends the program', () => {
    expect(answer(numbers.read, 0, 0x4000_0003)).toBe('kill');
  });
});

test('the second numbering of x64 does not exist', () => {
  expect(run(seccompFilter('x64'), { number: 0x4000_0000, arch: 0xc000_003e, argument: 0 })).toBe('errno 38');
});

test('a processor without a list is refused', () => {
  expect(() => seccompFilter('ia32')).toThrow('no filter of system calls is known for ia32');
});

/** Loads, forward jumps and returns: all instructions of such a program. */
function run(program: Buffer, call: { number: number; arch: number; argument: number }): string {
  const words: Record<number, number> = { 0: call.number, 4: call.arch, 16: call.argument };
  let loaded = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, ifTrue, ifFalse] = [program.readUInt16LE(at), program[at + 2]!, program[at + 3]!];
    const value = program.readUInt32LE(at + 4);
    if (code === 0x06) return ACTIONS[value >>> 16]!(value);
    if (code === 0x20) loaded = words[value]!;
    else {
      const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += 8 * (holds ? ifTrue : ifFalse);
    }
  }
  throw new Error('the program does not return');
}
