/**
 * Environment variables that make an innocent program load or run something else: loaders, start-up files of
 * interpreters, and helpers that tools start by name.
 *
 * A list of the known ones. It stops a caller that may set variables from running programs that the policy forbids by
 * name; it does not make the environment safe.
 */

const PREFIXES = [
  'BASH_FUNC_',
  'CARGO_',
  'CORECLR_',
  'COR_',
  'DYLD_',
  'GIT_',
  'LD_',
  'LUA_',
  'NPM_CONFIG_',
  'TS_NODE_',
];

const NAMES = new Set([
  ...['GCONV_PATH', 'GLIBC_TUNABLES', 'LOCPATH', 'OPENSSL_CONF', 'OPENSSL_ENGINES', 'OPENSSL_MODULES'],
  ...['BASHOPTS', 'BASH_ENV', 'CDPATH', 'ENV', 'FPATH', 'IFS', 'PROMPT_COMMAND', 'PS4', 'SHELLOPTS', 'ZDOTDIR'],
  ...['BUN_OPTIONS', 'ELECTRON_RUN_AS_NODE', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE'],
  ...['PYTHONBREAKPOINT', 'PYTHONEXECUTABLE', 'PYTHONHOME', 'PYTHONINSPECT', 'PYTHONPATH', 'PYTHONPLATLIBDIR'],
  ...['PYTHONPYCACHEPREFIX', 'PYTHONSTARTUP', 'PYTHONUSERBASE', 'PYTHONWARNINGS'],
  ...['PERL5DB', 'PERL5LIB', 'PERL5OPT', 'PERLLIB', 'PERL_MB_OPT', 'PERL_MM_OPT'],
  ...['BUNDLE_GEMFILE', 'GEM_HOME', 'GEM_PATH', 'RUBYLIB', 'RUBYOPT'],
  ...['CLASSPATH', 'GRADLE_OPTS', 'JAVA_OPTS', 'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', 'MAVEN_OPTS', '_JAVA_OPTIONS'],
  ...['DOTNET_STARTUP_HOOKS', 'JULIA_DEPOT_PATH', 'JULIA_LOAD_PATH', 'PHPRC', 'PHP_INI_SCAN_DIR', 'TCLLIBPATH'],
  ...['R_ENVIRON', 'R_ENVIRON_USER', 'R_PROFILE', 'R_PROFILE_USER', 'AWKLIBPATH', 'AWKPATH'],
  ...['GNUMAKEFLAGS', 'GOFLAGS', 'MAKEFILES', 'MAKEFLAGS', 'RUSTC', 'RUSTC_WRAPPER', 'RUSTDOC', 'RUSTFLAGS'],
  ...['CVS_RSH', 'RSYNC_RSH', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'SVN_SSH'],
  ...['BROWSER', 'EDITOR', 'LESSCLOSE', 'LESSOPEN', 'MANPAGER', 'PAGER', 'SYSTEMD_PAGER', 'VISUAL'],
  ...['CURL_HOME', 'EXINIT', 'GREP_OPTIONS', 'INPUTRC', 'RIPGREP_CONFIG_PATH', 'TAR_OPTIONS', 'VIMINIT', 'WGETRC'],
  ...['XDG_CONFIG_DIRS', 'XDG_CONFIG_HOME'],
  ...['GTK_MODULES', 'LESSKEY', 'LESSKEYIN', 'QT_PLUGIN_PATH'],
]);

/** In any case of letters: npm reads its variables that way, and the other spellings have no use. */
export function isHijackVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix));
}
