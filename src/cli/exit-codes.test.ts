import { expect, test } from 'vitest';

import { CallError, ConfigError } from '#contract';
import { exitCodeNotRun } from './exit-codes.ts';

test.each([
  ['invocation_failed', "command 'jq' not found on PATH", 127],
  ['S216', 'host exec: ./run was not found', 127],
  ['S216', 'host exec: ./run/x has a file as a parent directory', 127],
  ['S216', 'host exec: ./run is not executable by this user', 126],
  ['invocation_failed', "command 'rm' not in allowlist; allowed are ls", 126],
  ['invocation_failed', 'command matches denylist: rm', 126],
  ['invocation_failed', "'args' must be an array of strings (got number)", 125],
  ['S216', 'the engine was lost', 125],
  ['function_not_found', 'Function shell::exec not found', 125],
])('cli.C06 %s "%s" exits with %i', (code, message, exitCode) => {
  expect(exitCodeNotRun(new CallError('shell::exec', { code, message }))).toBe(exitCode);
});

test('cli.C06 an error other than a failed call exits with 125', () => {
  expect(exitCodeNotRun(new ConfigError('x'))).toBe(125);
});
