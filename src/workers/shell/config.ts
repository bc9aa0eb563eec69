/**
 * The `shell` block of the configuration. Missing keys have the shipped value: a read-only allowlist, an emptied
 * environment and a jail, so everything is closed by default.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { entriesOf } from '#egress';
import { PUBLIC_REGISTRIES } from '#fence';
import { SHIPPED_RULES } from './policy/shipped-rules.ts';

/** A Node timer above this fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

const timerMs = () => wire.uint32().max(LONGEST_TIMER_MS);

const example = z.union([z.string(), z.array(z.string()).min(1)]);

const ruleSchema = z.strictObject({
  program: z.string().min(1).describe('The last name of the program’s path, such as `git`.'),
  args: z
    .array(z.string())
    .optional()
    .describe(
      'A regex for each argument, which it has to match as a whole; `...` stands for any number of arguments. Default: any arguments.',
    ),
  decision: z.enum(['allow', 'deny']),
  reason: z.string().min(1).describe('Reason in the error that a refused caller gets.'),
  match: z.array(example).default([]).describe('Example commands that the rule must match.'),
  not_match: z.array(example).default([]).describe('Example commands that the rule must not match.'),
});
export type RuleConfig = z.output<typeof ruleSchema>;

const fsSchema = z.strictObject({
  host_root: z
    .string()
    .nullable()
    .default('/tmp')
    .describe('Directory that file operations and `cwd` cannot leave; null only with allow_unjailed.'),
  allow_unjailed: z.boolean().default(false).describe('Allow host_root: null, which opens every path of the host.'),
  max_read_bytes: wire.uint64().default(16_777_216).describe('Largest file that is read, in bytes; 0 for no limit.'),
  max_write_bytes: wire
    .uint64()
    .default(16_777_216)
    .describe('Largest file that is written, in bytes; 0 for no limit.'),
  search_timeout_ms: timerMs().min(1).default(20_000).describe('Time limit of a grep or a sed, in milliseconds.'),
  denylist_paths: z
    .array(z.string())
    .default(['/etc/passwd', '/etc/shadow'])
    .describe('Absolute paths that no file operation touches, nor anything below them.'),
});

const sandboxSchema = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether calls may target a sandbox.'),
});

const paths = () =>
  z
    .array(z.string().regex(/^(\/|~\/)./, 'must be an absolute path, or start with ~/'))
    .max(64)
    .default([]);

const fencePaths = z.strictObject({
  read: paths().describe('Paths that commands can read, such as a toolchain: absolute, or ~/ for home.'),
  layers: paths().describe(
    'Paths with a temporary layer for writes, lost when the server ends, such as package caches.',
  ),
  write: paths().describe('Paths that commands can change, such as the repository of a git worktree.'),
  hide: paths().describe('Paths that commands see as empty, as they see other homes and data of services.'),
});

const fenceEgress = z.strictObject({
  allow: entriesOf('allow')
    .default([...PUBLIC_REGISTRIES])
    .describe(
      'Besides the registries that the server’s user has set up for npm, pip, uv and Go, which are always allowed.',
    ),
  deny: entriesOf('deny').default([]).describe('Overrides allow.'),
});

/** Fences from the most open to the strictest. */
export const FENCES = ['off', 'workspace', 'change'] as const;

const fenceKeys = {
  fence: z
    .enum(FENCES)
    .default('off')
    .describe(
      'Access of commands of this host. `off`: that of the user, and the allowlist decides which commands run. ' +
        '`workspace`: any program runs, and only fs.host_root and a private /tmp are writable; home, protected files, ' +
        'other processes, sockets and the network of this host are out of reach. `change`: the same, and what a command ' +
        'changes in the workspace goes to the change that the call names, or is thrown away.',
    ),
  record_commands: z
    .enum(['off', 'foreground'])
    .default('off')
    .describe(
      '`foreground`: commands of shell::exec run in a layer of their own, which is committed when they end, so that coder::undo covers them.',
    ),
  fence_network: z
    .enum(['none', 'loopback', 'egress'])
    .default('loopback')
    .describe(
      'Network of commands in the fence. `none`: each has a loopback address of its own. `loopback`: they share one, ' +
        'which is not that of this host. `egress`: besides, a proxy to the hosts of fence_egress.',
    ),
  fence_egress: fenceEgress
    .default(fenceEgress.parse({}))
    .describe('Hosts that commands in the fence reach with `egress`.'),
  fence_paths: fencePaths
    .default(fencePaths.parse({}))
    .describe('Paths that commands in the fence see beside the shipped ones.'),
};

export const configSchema = z.strictObject({
  max_timeout_ms: timerMs()
    .default(30_000)
    .describe('Upper limit of the timeout of a foreground command, in milliseconds.'),
  default_timeout_ms: timerMs().default(10_000).describe('Its timeout in milliseconds when the call does not set one.'),
  max_output_bytes: wire.uint64().default(1_048_576).describe('Bytes of each output stream that are kept.'),
  working_dir: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Working directory of commands. null: that of the worker if it is in fs.host_root, else fs.host_root itself.',
    ),
  inherit_env: z
    .boolean()
    .default(false)
    .describe('Pass the whole environment of the worker to commands instead of allowed_env.'),
  allowed_env: z
    .array(z.string())
    .default(['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM'])
    .describe(
      'Variables that commands see, and that a call may set, PATH and HOME excepted. LD_*, NODE_OPTIONS and similar are never passed.',
    ),
  allowlist: z
    .array(z.string())
    // Programs that only read. Programs that can start others or write anywhere (env, find, git, sed, sh) are left out.
    .default([
      ...['ls', 'cat', 'pwd', 'echo', 'grep', 'wc', 'head', 'tail', 'sort', 'uniq', 'cut', 'date', 'whoami'],
      ...['hostname', 'which', 'jq', 'uname', 'df', 'du', 'ps', 'printenv', 'basename', 'dirname'],
    ])
    .describe('Programs that may run: a name that PATH finds, or an exact path. An empty list allows every program.'),
  denylist_patterns: z
    .array(z.string())
    .default([
      String.raw`rm\s+-rf\s+/`,
      String.raw`:\(\)\s*\{\s*:\|`,
      'mkfs',
      String.raw`dd\s+if=`,
      'shutdown',
      'reboot',
      '/etc/passwd',
      '/etc/shadow',
      String.raw`\bfind\b[^|;&]*-exec(dir)?\b`,
      String.raw`\bawk\b[^|;&]*system\s*\(`,
      String.raw`\bsed\b[^|;&]*(-i\b|\be\b)`,
      String.raw`\bcurl\b[^|;&]*(file://|-o\s|--output-dir\b|-F\s+@)`,
      String.raw`\bgit\b[^|;&]*(--upload-pack|--receive-pack|core\.pager|core\.hooksPath|GIT_SSH_COMMAND)`,
      String.raw`\b(node|python3?)\b[^|;&]*\s-(e|c)\b`,
      String.raw`\bnpm\b[^|;&]*\brun\b`,
    ])
    .describe('Rust regexes over the words joined by spaces. Catches honest mistakes; not a security boundary.'),
  rules: z
    .array(ruleSchema)
    .default(SHIPPED_RULES)
    .describe('Restricts the arguments of allowed programs; the examples are checked at the start.'),
  max_concurrent_jobs: wire.uint32().default(16).describe('Background jobs that may run at once.'),
  job_retention_secs: wire
    .uint32()
    .max(Math.floor(LONGEST_TIMER_MS / 1000))
    .default(3600)
    .describe('Seconds that an ended job is kept.'),
  fs: fsSchema.default(fsSchema.parse({})).describe('The file operations.'),
  sandbox: sandboxSchema.default(sandboxSchema.parse({})).describe('Sandbox targets.'),
  ...fenceKeys,
});

export type ShellConfig = z.output<typeof configSchema>;
