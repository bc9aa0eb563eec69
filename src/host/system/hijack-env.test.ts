import { expect, test } from 'vitest';

import { isHijackVariable } from './hijack-env.ts';

test.each([
  ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GCONV_PATH', 'GLIBC_TUNABLES'],
  ...['BASH_ENV', 'ENV', 'BASH_FUNC_ls%%', 'SHELLOPTS', 'PS4', 'IFS', 'ZDOTDIR'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'npm_config_script_shell', 'NPM_CONFIG_node_options'],
  ...['PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONHOME', 'PERL5OPT', 'PERL5LIB', 'RUBYOPT', 'RUBYLIB', 'LUA_INIT_5_4'],
  ...['GIT_SSH_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_CONFIG_COUNT', 'GIT_EXEC_PATH', 'SSH_ASKPASS', 'RSYNC_RSH'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'DOTNET_STARTUP_HOOKS', 'CORECLR_PROFILER', 'GOFLAGS', 'MAKEFLAGS'],
  ...[
    'CARGO_BUILD_RUSTC_WRAPPER',
    'RUSTC_WRAPPER',
    'PAGER',
    'LESSOPEN',
    'EDITOR',
    'TAR_OPTIONS',
    'RIPGREP_CONFIG_PATH',
    'XDG_CONFIG_HOME',
    'XDG_CONFIG_DIRS',
  ],
])('%s is one', (name) => {
  expect(isHijackVariable(name)).toBe(true);
});

test.each([
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TZ', 'USER', 'TMPDIR', 'CI', 'NODE_ENV', 'PYTHONUNBUFFERED'],
  ...['ENVIRONMENT', 'GITHUB_SHA', 'LDFLAGS', 'MY_ENV', 'FORCE_COLOR', 'NO_COLOR', 'DEBUG', 'COLUMNS', 'API_KEY'],
])('%s is none', (name) => {
  expect(isHijackVariable(name)).toBe(false);
});
