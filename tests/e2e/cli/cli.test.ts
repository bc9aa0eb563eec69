/** The command line as people type it: short names, completion in their shells, terminals, the modules that it loads. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { NOBODY_UID } from '../../../src/testing/basics/ordinary-user.ts';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MAIN = `${ROOT}dist/cli/main.js`;

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'ws/a.txt': 'hello\n', 'config.yaml': 'workers: [{name: shell, config: {allowlist: [sh]}}]' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.path('ws'), '-c', dir.path('config.yaml')]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const run = (...args: string[]) => runCli(args, { env: { WORKCELL_URL: cell.url, III_URL: 'ws://127.0.0.1:1' } });

/** Runs a line with a terminal of 80 columns, whose input has ended; both streams are in the result. */
async function onTerminal(line: string, env: Record<string, string> = {}): Promise<string> {
  const typed = `stty cols 80; ${line.replace(/^workcell /, `'${process.execPath}' '${MAIN}' `)}`;
  const surroundings = { TERM: 'xterm', WORKCELL_URL: cell.url, ...env };
  const { stdout } = await runCli(['-qec', typed, '/dev/null'], { bin: 'script', env: surroundings });
  return stdout.replaceAll('\r\n', '\n');
}

describe('short names', () => {
  test('cli.C01 ps, status, logs and stop do what they say', async () => {
    const words = ['call', 'shell::exec_bg', '--json', '{"command": "sh", "args": ["-c", "echo printed; sleep 600"]}'];
    const { job_id } = JSON.parse((await run(...words)).stdout) as { job_id: string };
    await expect.poll(async () => (await run('logs', job_id)).stdout).toBe('printed\n');
    expect((await run('ps')).stdout).toMatch(new RegExp(`^KIND +ID +AGE +WHAT\njob +${job_id} +\\d+s\n$`));
    expect((await run('status')).stdout).toMatch(
      /^running on ws:\S+\n {2}workers {4}shell \S+ \(\d+\)\n {2}jobs {7}1\n {2}sandboxes {2}0\n$/,
    );
    expect(await run('stop', 'job-x')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'Error: nothing that runs is named "job-x"; exact are: workcell jobs kill <job-id>, workcell sandbox stop <sandbox>; workcell ps lists both\n',
    });
    expect(await run('stop', job_id)).toEqual({ code: 0, stdout: `stopped ${job_id}\n`, stderr: '' });
    expect(await run('ps')).toEqual({ code: 0, stdout: 'Nothing runs.\n', stderr: '' });
    expect((await run('jobs', 'ls')).stdout).toMatch(new RegExp(`\n${job_id} +killed `));
  });

  test.each([
    [['ls'], ['workcell exec -- ls ', 'workcell sandbox list ']],
    [
      ['rm', 'a.txt'],
      ["workcell call coder::delete-file paths='[", 'workcell sandbox stop '],
    ],
    [['stop'], ['workcell ps', 'Ctrl+C']],
    [
      ['status', 'job-x'],
      ['workcell jobs status job-x', 'workcell sandbox list'],
    ],
  ])('cli.C01 %j is refused with what works', async (words, works) => {
    const { code, stdout, stderr } = await run(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const command of works) expect(stderr).toContain(command);
  });
});

describe('completion', () => {
  const CASES = [
    { typed: 'workcell sta', has: ['start', 'status'], hasNot: 'stop' },
    { typed: 'workcell jobs ', has: ['list', 'ls', 'attach', 'kill'], hasNot: 'pull' },
    { typed: 'workcell sandbox p', has: ['pull', 'prune', 'ps'], hasNot: 'run' },
    { typed: 'workcell worker sandbox p', has: ['pull', 'prune'], hasNot: 'run' },
    { typed: 'workcell start --wor', has: ['--workspace'], hasNot: '--port' },
    { typed: 'workcell call coder::tree --ti', has: ['--timeout-ms'], hasNot: '--json' },
  ];

  /** The script for a shell, or why it cannot be tried here. */
  async function scriptFor(shell: string): Promise<{ file: string } | { why: string }> {
    const isThere = () => spawnSync(shell, ['-c', 'true']).status === 0;
    const install = `apt-get install -y --no-install-recommends ${shell}`;
    if (!isThere() && process.geteuid?.() === 0 && !process.env.WORKCELL_NO_APT) {
      spawnSync('sh', ['-c', `${install} || { apt-get update && ${install}; }`], { stdio: 'ignore', timeout: 300_000 });
    }
    if (!isThere()) return { why: `${shell} is missing. To install: ${install}` };
    const { code, stdout } = await run('completion', shell);
    expect(code).toBe(0);
    writeFileSync(dir.path(`completion.${shell}`), stdout);
    return { file: dir.path(`completion.${shell}`) };
  }

  /** The completions that each shell would offer. */
  const OFFERED: Record<string, (file: string, typed: string) => string[]> = {
    bash(file, typed) {
      const line = `source '${file}'; COMP_WORDS=(${typed
        .split(' ')
        .map((word) => `'${word}'`)
        .join(' ')})
        COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _workcell 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return lines(execFileSync('bash', ['--norc', '-c', line], { encoding: 'utf8' }));
    },
    fish: (file, typed) =>
      lines(execFileSync('fish', ['-c', `source '${file}'; complete -C '${typed}'`], { encoding: 'utf8' })).map(
        (line) => line.split('\t')[0]!,
      ),
    /**
     * Only the line editor of zsh completes, so one runs in a terminal, and each candidate is printed as it is added.
     * It is typed once the editor has the terminal: before, Ctrl-U removes what was typed.
     */
    zsh(file, typed) {
      const line = `zmodload zsh/zpty; zpty z zsh -f -i
        zpty -w z "PS1=; autoload -Uz compinit; compinit -u -D; source '${file}'"
        zpty -w z 'compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- "offered "\${^found}; }'
        zpty -w z 'bindkey "^I" complete-word; zle-line-init() { print READY-$((1+1)); }; zle -N zle-line-init'
        zpty -r -m z out '*READY-2*'
        zpty -w -n z $'${typed}\\t\\C-u'; zpty -w z ' print DONE-$((1+1))'
        zpty -r -m z out '*DONE-2*'; print -r -- "$out"`;
      const out = execFileSync('zsh', ['-f', '-c', line], { encoding: 'utf8', timeout: 30_000 });
      return lines(out).flatMap((text) => /offered (\S+)\r?$/.exec(text)?.[1] ?? []);
    },
  };

  test.for(Object.keys(OFFERED))('cli.C02 %s offers the commands and options', async (shell, { skip }) => {
    const made = await scriptFor(shell);
    if ('why' in made) return skip(made.why);
    for (const { typed, has, hasNot } of CASES) {
      const offered = OFFERED[shell]!(made.file, typed);
      expect({ typed, offered }).toEqual({ typed, offered: expect.arrayContaining(has) });
      expect(offered).not.toContain(hasNot);
    }
  });

  test('cli.C02 a shell that is not known is refused', async () => {
    expect(await run('completion', 'fishh')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Error: no completion for "fishh" (did you mean "fish"?); there is: bash, zsh, fish\n',
    });
  });
});

describe.concurrent('a terminal', () => {
  test('cli.C03 cli.C04 gets colours unless NO_COLOR, and tables that fit it', async () => {
    const [coloured, plain] = await Promise.all([
      onTerminal('workcell functions'),
      onTerminal('workcell functions', { NO_COLOR: '1' }),
    ]);
    expect(coloured).toContain('\u001b[1mFUNCTION');
    expect(plain).not.toContain('\u001b');
    const rows = plain.split('\n');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(80);
    expect(rows.filter((row) => row.startsWith('shell::exec_bg'))).toHaveLength(1);
    expect((await run('functions')).stdout).not.toContain('\u001b');
  });

  test('cli.C03 gets its errors in red', async () => {
    expect(await onTerminal('workcell strat')).toContain('\u001b[31mError:\u001b[0m no command "strat"');
  });

  test('cli.C10 gets to know what `workcell mcp` is waiting for', async () => {
    expect(await onTerminal(`workcell mcp --workspace '${dir.path('ws')}'`)).toContain(
      'workcell mcp is waiting for an MCP client: JSON-RPC messages',
    );
  });
});

test('cli.C08 --version loads nothing but itself', async () => {
  await using bare = await tempDir({ 'dist/cli/': '', 'dist/version/': '' });
  for (const path of ['package.json', 'dist/cli/main.js', 'dist/version']) {
    cpSync(`${ROOT}${path}`, bare.path(path), { recursive: true });
  }
  const version = execFileSync(process.execPath, [bare.path('dist/cli/main.js'), '--version'], { encoding: 'utf8' });
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe.concurrent('mcp --tools', () => {
  test.each([
    ['coder,shel', 'has "shel", which names nothing (did you mean "shell"?)'],
    ['coder_raed_file', 'has "coder_raed_file", which names nothing (did you mean "coder_read_file"?)'],
    [',', 'names nothing; give workers'],
  ])('cli.C09 %s is refused', async (tools, message) => {
    const { code, stdout, stderr } = await runCli(['mcp', '--workspace', dir.path('ws'), '--tools', tools]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Error: [unknown_tool] --tools ${message}`);
  });
});

describe.skipIf(process.geteuid?.() !== 0)('a workspace that another user owns', () => {
  test.each([
    ['read', 0o300, 'workspace_not_readable', 'chmod u+rx'],
    ['written', 0o500, 'workspace_not_writable', 'chmod u+w'],
  ])('cli.C11 cannot be %s: refused at the start', async (use, mode, code, help) => {
    await using closed = await tempDir({ 'ws/a.txt': '' });
    chownSync(closed.path('ws'), NOBODY_UID, NOBODY_UID);
    chmodSync(closed.path('ws'), mode);
    chmodSync(closed.root, 0o755);
    const asOther = (...words: string[]) =>
      runCli(['--reuid', String(NOBODY_UID), '--clear-groups', process.execPath, MAIN, ...words], {
        bin: 'setpriv',
        cwd: closed.root,
        home: '/nonexistent',
      });
    const starting = [['start', '--port', '0'], ['mcp']].map((words) =>
      asOther(...words, '--workspace', closed.path('ws')),
    );
    for (const { code: exitCode, stdout, stderr } of await Promise.all(starting)) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^Error: \\[${code}\\] --workspace ${closed.path('ws')} cannot be ${use} by `));
      expect(stderr).toContain(help);
    }
  });
});

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
