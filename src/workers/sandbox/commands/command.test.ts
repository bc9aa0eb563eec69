import { describe, expect, test } from 'vitest';

import { refuseShellLine, toArgv } from './command.ts';
import { parseSandboxId } from '../live/sandbox-id.ts';
import { mergeEnv, readEnv, readImageEnv } from '../environment.ts';

const shape = (given: Partial<Parameters<typeof toArgv>[0]>) => ({ cmd: '', args: [], argv: [], ...given });

describe('a command line', () => {
  test.each([
    ['echo $HOME && pwd', ['echo', '$HOME', '&&', 'pwd']],
    [`echo a\\ b "c  d" 'e"f' # tail`, ['echo', 'a b', 'c  d', 'e"f']],
    ['a#b #c\nd', ['a#b', 'd']],
    ['"a\\$b\\q\\\nc"', ['a$b\\qc']],
    ['a\\\nb c\\\td', ['ab', 'c\td']],
    [`''`, ['']],
    ['a\tb\nc', ['a', 'b', 'c']],
    ['a\u00a0b', ['a\u00a0b']],
    [' # nothing', []],
  ])('%j', (line, words) => {
    expect(toArgv(shape({ cmd: `x ${line}` }))).toEqual(['x', ...words]);
  });

  test.each([["echo 'x"], ['echo "x'], ['echo "x\\'], ['echo \\']])('%j does not end', (cmd) => {
    expect(() => toArgv(shape({ cmd }))).toThrow(/^invalid request: unbalanced quotes/);
  });
});

describe('the three shapes', () => {
  test.each([
    [{ cmd: 'node -v' }, ['node', '-v']],
    [{ cmd: 'node', args: ['-v', 'a b'] }, ['node', '-v', 'a b']],
    [{ argv: ['node', '-v'] }, ['node', '-v']],
    [{ argv: ['node', '-v'], cmd: 'python' }, ['node', '-v']],
    [{ cmd: "'true'" }, ["'true'"]],
    [{ cmd: 'a\u00a0b' }, ['a\u00a0b']],
  ])('%j', (given, argv) => {
    expect(toArgv(shape(given))).toEqual(argv);
  });

  test.each([
    [{}, 'empty'],
    [{ cmd: "''  " }, 'empty'],
    [{ argv: [''] }, 'empty'],
    [{ argv: ['a'], cmd: 'b c' }, 'argv stands for the whole command'],
    [{ argv: ['a'], args: ['b'] }, 'argv stands for the whole command'],
    [{ cmd: 'a b', args: ['c'] }, 'ambiguous'],
    [{ argv: ['a\0b'] }, 'NUL'],
  ])('%j is refused', (given, why) => {
    expect(() => toArgv(shape(given))).toThrow(why);
  });
});

describe('a shell line at a door is refused with the call that runs it', () => {
  test.each([
    [{ cmd: 'echo hi > x' }, '>', { cmd: 'sh', args: ['-c', 'echo hi > x'] }],
    [{ cmd: 'ls | wc -l' }, '|', { cmd: 'sh', args: ['-c', 'ls | wc -l'] }],
    [{ cmd: 'cd /tmp && ls' }, 'cd', { cmd: 'sh', args: ['-c', 'cd /tmp && ls'] }],
    [{ cmd: 'ls *.md' }, '*.md', { cmd: 'sh', args: ['-c', 'ls *.md'] }],
    [{ cmd: 'FOO=1 env' }, 'FOO=1', { cmd: 'sh', args: ['-c', 'FOO=1 env'] }],
    [{ cmd: 'echo', args: ['a b', '>', "it's"] }, '>', { cmd: 'sh', args: ['-c', String.raw`echo 'a b' > 'it'\''s'`] }],
    [{ argv: ['ls', '&&', 'pwd'] }, '&&', { argv: ['sh', '-c', 'ls && pwd'] }],
    [{ argv: ['ls | wc'] }, '|', { argv: ['sh', '-c', 'ls | wc'] }],
  ])('%j', (given, sign, fix) => {
    expect(() => refuseShellLine(shape(given))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`\`${sign}\` has no effect`),
        extra: expect.objectContaining({ fix }),
      }),
    );
  });

  test.each([{ cmd: 'ls -la' }, { cmd: 'sh', args: ['-c', 'a | b'] }, { argv: ['grep', '*.md', 'a|b'] }])(
    '%j is not one',
    (given) => expect(() => refuseShellLine(shape(given))).not.toThrow(),
  );
});

test('environment of both shapes, the later layer first in rank', () => {
  expect(readImageEnv(['A=1', 'nothing', 'a-b=', 'B=x=y'])).toEqual([
    ['A', '1'],
    ['a-b', ''],
    ['B', 'x=y'],
  ]);
  expect(readEnv(['A=1', 'B=x=y', 'A=2'])).toEqual([
    ['A', '1'],
    ['B', 'x=y'],
    ['A', '2'],
  ]);
  expect(readEnv({ b: '1', A: '2' })).toEqual([
    ['A', '2'],
    ['b', '1'],
  ]);
  expect(Object.fromEntries(mergeEnv([['PATH', '/x']], [['A', '1']], [['A', '2']]))).toMatchObject({
    PATH: '/x',
    A: '2',
  });
  for (const bad of [{ 'a-b': '1', ok: '2' }, ['ok=2', 'a-b=1']])
    expect(() => readEnv(bad)).toThrow('shell takes: "a-b"');
  expect(() => readEnv(['A=1', 'nothing'])).toThrow('not NAME=value: "nothing"');
  expect(() => readEnv(['=1'])).toThrow('shell takes: ""');
  for (const bad of [{ A: '\0' }, ['A=\0']]) expect(() => readEnv(bad)).toThrow('"A"');
  expect(() => mergeEnv([['A', '\0']])).toThrow('"A"');
});

test('an id in any spelling is returned in one', () => {
  const id = '0123abcd-4567-89ab-cdef-0123456789ab';
  for (const spelling of [id, id.toUpperCase(), id.replaceAll('-', ''), `urn:uuid:${id}`, `{${id}}`]) {
    expect(parseSandboxId(spelling)).toBe(id);
  }
  for (const bad of ['', 'not-a-uuid', `${id}0`, id.replace('-', ''), `{${id}`]) {
    expect(() => parseSandboxId(bad)).toThrow(JSON.stringify(bad));
  }
});
