import { expect, test, vi } from 'vitest';

import { isLogLevel, terminalLog, type LogLevel } from './terminal-log.ts';

function lines(level: LogLevel, isTTY: boolean, fields: Record<string, unknown> = {}): string[] {
  const written: string[] = [];
  const log = terminalLog(level, { isTTY, write: (text) => written.push(text) });
  for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name](`a ${name}`, fields);
  return written;
}

test.each([
  ['debug', ['a debug', 'a info', 'a warn', 'a error']],
  ['info', ['a info', 'a warn', 'a error']],
  ['warn', ['a warn', 'a error']],
  ['error', ['a error']],
  ['silent', []],
] as const)('level %s lets through %s', (level, messages) => {
  expect(lines(level, false).map((line) => JSON.parse(line).message)).toEqual(messages);
});

test('a program gets one JSON object a line, with time and fields', () => {
  const [line = ''] = lines('error', false, { port: 1, name: 'a\nb' });
  expect(line).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(line)).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    level: 'error',
    message: 'a error',
    port: 1,
    name: 'a\nb',
  });
});

test('prints one readable line on a terminal, without control characters from fields', () => {
  vi.stubEnv('NO_COLOR', '1');
  const fields = { port: 1, name: 'x\u001b[2J\n12:00:00 error forged\u202e', list: ['\u001b'] };
  const [warn = '', error = ''] = lines('warn', true, fields);
  expect(warn).toMatch(
    /^\d\d:\d\d:\d\d warn {2}a warn port=1 name=x \[2J 12:00:00 error forged {2}list=\["\\u001b"\]\n$/,
  );
  expect(error).toMatch(/^\d\d:\d\d:\d\d error a error /);
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('TERM', 'xterm');
  expect(lines('warn', true, fields)[0]).toContain(' \u001b[33mwarn \u001b[0m a warn ');
  vi.unstubAllEnvs();
});

test('the levels are known by name', () => {
  expect(['debug', 'silent', 'loud', ''].map(isLogLevel)).toEqual([true, true, false, false]);
});
