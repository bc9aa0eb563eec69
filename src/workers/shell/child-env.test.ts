import { describe, expect, test } from 'vitest';

import { baseEnvironment, withCallVariables } from './child-env.ts';

const own = {
  PATH: '/bin',
  HOME: '/home/a',
  SECRET: 's',
  NODE_OPTIONS: '--x',
  LD_PRELOAD: 'y',
  WORKCELL_TOKEN: 't',
  WORKCELL_CLUSTER: 'nats://u:p@h',
  WORKCELL_CLUSTER_CREDS: '/etc/a.creds',
  WORKCELL_CLUSTER_NKEY: '/etc/a.nk',
};

describe('the base', () => {
  test('is what is listed and set', () => {
    const config = { inherit_env: false, allowed_env: ['PATH', 'LANG', 'HOME'] };
    expect(baseEnvironment(config, own)).toEqual({ PATH: '/bin', HOME: '/home/a' });
  });

  test('is everything when it is inherited, but for hijackers and the token', () => {
    expect(baseEnvironment({ inherit_env: true, allowed_env: [] }, own)).toEqual({
      PATH: '/bin',
      HOME: '/home/a',
      SECRET: 's',
    });
  });

  test('shell.P4 has no hijackers and no token even if they are listed', () => {
    const allowed_env = Object.keys(own).filter((name) => !['PATH', 'HOME', 'SECRET'].includes(name));
    expect(baseEnvironment({ inherit_env: false, allowed_env }, own)).toEqual({});
  });
});

describe('a call', () => {
  const base = { PATH: '/bin', LANG: 'C' };
  const allowed = new Set(['PATH', 'HOME', 'LANG', 'TERM', 'LD_PRELOAD', 'XDG_CONFIG_HOME']);

  test('sets and replaces listed variables', () => {
    expect(withCallVariables(base, { LANG: 'xx', TERM: '' }, allowed)).toEqual({ PATH: '/bin', LANG: 'xx', TERM: '' });
  });

  test.each([
    ['SECRET', 'x', 'env: SECRET may not be set; allowed are: LANG, TERM'],
    ['PATH', '/evil', 'env: PATH may not be set: it decides which program a name stands for'],
    ['HOME', '/evil', 'env: HOME may not be set: it decides which start-up files programs read'],
    [
      'XDG_CONFIG_HOME',
      '/evil',
      'env: XDG_CONFIG_HOME may not be set: it makes programs run other code or holds a secret',
    ],
    ['LD_PRELOAD', 'x', 'env: LD_PRELOAD may not be set: it makes programs run other code or holds a secret'],
    ['WORKCELL_TOKEN', 'x', 'env: WORKCELL_TOKEN may not be set: it makes programs run other code or holds a secret'],
    [
      'WORKCELL_CLUSTER_NKEY',
      'x',
      'env: WORKCELL_CLUSTER_NKEY may not be set: it makes programs run other code or holds a secret',
    ],
    ['LANG', 'a\0b', 'env: the value of LANG holds a NUL character'],
  ])('shell.P4 may not set %s to %j', (name, value, message) => {
    expect(() => withCallVariables(base, { [name]: value }, allowed)).toThrow(
      expect.objectContaining({ code: 'S210', message }),
    );
  });
});
