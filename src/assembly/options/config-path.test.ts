import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { defaultConfigPath, findConfigFile } from './config-path.ts';

test('a file that is named is used even if missing, the default one only if it exists', async () => {
  await using dir = await tempDir({ 'there/workcell/config.yaml': '' });
  const [there, none] = [{ XDG_CONFIG_HOME: dir.path('there') }, { XDG_CONFIG_HOME: dir.path('none') }];
  expect([
    findConfigFile('x.yaml', there),
    findConfigFile(undefined, { ...there, WORKCELL_CONFIG: '/none.yaml' }),
    findConfigFile(undefined, { ...there, WORKCELL_CONFIG: '' }),
    findConfigFile(undefined, none),
  ]).toEqual(['x.yaml', '/none.yaml', dir.path('there/workcell/config.yaml'), undefined]);
});

test.each([
  ['the named file', { WORKCELL_CONFIG: '/a/b.yaml', XDG_CONFIG_HOME: '/x' }, '/a/b.yaml'],
  ['the configuration folder', { XDG_CONFIG_HOME: '/x' }, '/x/workcell/config.yaml'],
  ['the home directory', {}, /^\/.+\/\.config\/workcell\/config\.yaml$/],
  [
    'the home directory when the variables are empty',
    { WORKCELL_CONFIG: '', XDG_CONFIG_HOME: '' },
    /^\/.+\/\.config\/workcell\/config\.yaml$/,
  ],
])('the default path is %s', (_, env, path) => {
  expect(defaultConfigPath(env)).toEqual(typeof path === 'string' ? path : expect.stringMatching(path));
});
