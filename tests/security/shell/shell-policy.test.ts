/**
 * The bypasses of command policies that were found in other tools, each with the rule that stops it here.
 *
 * Three things can: no shell reads the words, the allowlist judges the words that run, and a rule judges arguments.
 * Where none of them does, the test shows that the command runs, and only a sandbox would have stopped it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { rounds, serveWorker, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '#workers/shell';

const RACES = rounds(25, 200, 5_000);

interface Reply {
  exit_code: number | null;
  stdout: string;
  stderr: string;
}

let dir: TempDir;
beforeAll(async () => {
  dir = await tempDir();
});
afterAll(() => dir[Symbol.asyncDispose]());

/** The worker as shipped, over a directory of its own. */
async function shipped(more: Record<string, unknown> = {}): Promise<ServedWorker> {
  return serveWorker(shell, { fs: { host_root: dir.root }, ...more });
}

/** The outcome of a command that would make a file called `ran`. */
async function attempt(worker: ServedWorker, payload: Record<string, unknown>): Promise<string> {
  const reply = await worker.call<Reply>('shell::exec', payload).catch((error: unknown) => (error as Error).message);
  expect(existsSync(dir.path('ran'))).toBe(false);
  return typeof reply === 'string' ? reply : reply.stdout;
}

describe('shell.P1 no shell reads the words, so what a shell would do is printed', () => {
  test.each([
    ['command substitution', 'echo $(touch ran)', '$(touch ran)\n'],
    ['backticks', 'echo `touch ran`', '`touch ran`\n'],
    ['a second command after a newline', 'echo hi\ntouch ran', 'hi touch ran\n'],
    ['a second command after a semicolon', 'echo hi; touch ran', 'hi; touch ran\n'],
    ['a pipe', 'echo ran | xargs touch', 'ran | xargs touch\n'],
    ['a redirection: a read-only tool stays one', 'echo x > ran', 'x > ran\n'],
    ['and, or', 'echo a && touch ran || touch ran', 'a && touch ran || touch ran\n'],
    ['a group in braces', 'echo { touch ran; }', '{ touch ran; }\n'],
    ['a substitution in braces', 'echo ${ touch ran; }', '${ touch ran; }\n'],
    ['a here-document', 'echo <<EOF\n$(touch ran)\nEOF', '<<EOF $(touch ran) EOF\n'],
    ['nested subshells', 'echo ((touch ran))', '((touch ran))\n'],
  ])('%s', async (_, command, stdout) => {
    await using worker = await shipped();
    expect(await attempt(worker, { command })).toBe(stdout);
  });

  test('process substitution', async () => {
    await using worker = await shipped();
    expect(await attempt(worker, { command: 'cat <(touch ran)' })).toBe('');
  });
});

describe('the allowlist judges the words that run', () => {
  test.each([
    ['an absolute path', '/usr/bin/touch ran', 'touch'],
    ['quotes inside the name', `t"ou"ch ran`, 'touch'],
    ['empty quotes inside the name', `tou''ch ran`, 'touch'],
    ['a backslash inside the name', 't\\ouch ran', 'touch'],
    ['ANSI-C quotes', `$'touch' ran`, '$touch'],
    ['a wildcard', '/usr/bin/tou?h ran', 'tou?h'],
    ['a variable', '$SHELL -c "touch ran"', '$SHELL'],
    ['an assignment before the name', 'X=1 touch ran', 'X=1'],
    ['a name built from variables', 'a=tou;${a}ch ran', 'a=tou;${a}ch'],
    ['a shell', `sh -c 'touch ran'`, 'sh'],
    ['eval', 'eval touch ran', 'eval'],
    ['command', 'command touch ran', 'command'],
    ['an alias', 'alias ls=touch', 'alias'],
    ['env', 'env touch ran', 'env'],
    ['xargs', 'xargs touch ran', 'xargs'],
    ['nohup', 'nohup touch ran', 'nohup'],
    ['busybox', 'busybox touch ran', 'busybox'],
    ['node', `node -e 'require("fs").writeFileSync("ran", "")'`, 'node'],
    ['python', `python3 -c 'open("ran", "w")'`, 'python3'],
    ['perl', `perl -e 'open(F, ">ran")'`, 'perl'],
    ['awk', `awk 'BEGIN { system("touch ran") }'`, 'awk'],
    ['a carriage return as the end of a word', 'echo\rtouch ran', 'echo\rtouch'],
    ['a form feed as the end of a word', 'echo\ftouch ran', 'echo\ftouch'],
    ['a no-break space', 'echo\u{a0}touch ran', 'echo\u{a0}touch'],
    ['another case', 'ECHO hi', 'ECHO'],
    ['letters that look alike', 'ес\u{301}ho hi', 'ес\u{301}ho'],
  ])('%s', async (_, command, name) => {
    await using worker = await shipped();
    expect(await attempt(worker, { command })).toBe(`command '${name}' not in allowlist`);
  });

  test('shell.P2 a program of its own by the name of a listed one', async () => {
    dir.add({ 'bin/ls': { content: '#!/bin/sh\ntouch ran\n', mode: 0o755 }, bin2: { symlink: 'bin' } });
    await using worker = await shipped();
    for (const command of ['bin/ls', './bin/ls', dir.path('bin/ls'), dir.path('bin2/ls'), 'bin/../bin/ls']) {
      expect(await attempt(worker, { command, args: [] })).toMatch(/^command 'ls' not in allowlist/);
    }
    expect(await attempt(worker, { command: './ls', args: [], cwd: 'bin' })).toMatch(/^command 'ls' not in allowlist/);
  });

  test.each([
    ['that is empty, in the directory of the program', '', 'bin'],
    ['of the current directory', '.', 'bin'],
    ['with a relative directory', '/nowhere:bin', '.'],
    ['that takes a way round', '/usr/bin/../..$J/bin:/usr/bin', '.'],
  ])('a planted program on a PATH %s', async (_, path, cwd) => {
    dir.add({ 'bin/ls': { content: '#!/bin/sh\ntouch ran\n', mode: 0o755 } });
    vi.stubEnv('PATH', path.replace('$J', dir.root));
    await using worker = await shipped();
    vi.unstubAllEnvs();
    expect(await attempt(worker, { command: 'ls', cwd })).toBe(
      "command 'ls' not in allowlist: PATH finds it in fs.host_root, where agents write",
    );
  });

  test('shell.P2 a program that appears on PATH and vanishes between the judgement and the start', async () => {
    await using own = await tempDir({
      'bin/': '',
      evil: { content: '#!/bin/sh\necho evil\n', mode: 0o755 },
      'swap.sh': 'while :; do ln evil bin/echo; rm bin/echo; done\n',
    });
    vi.stubEnv('PATH', `${own.path('bin')}:${process.env.PATH}`);
    await using worker = await serveWorker(shell, { allowlist: ['echo'], fs: { host_root: own.root } });
    vi.unstubAllEnvs();
    const swapper = spawn('sh', ['swap.sh'], { cwd: own.root, stdio: 'ignore' });
    try {
      const call = () =>
        worker.call<Reply>('shell::exec', { command: 'echo', args: ['good'] }).then(
          ({ stdout }) => stdout,
          (error: unknown) => (error as Error).message,
        );
      const outcomes = new Set<string>();
      // On a busy machine the swapper may pause with its link in place for many rounds.
      for (let round = 0; round < RACES || !outcomes.has('good\n'); round++) outcomes.add(await call());
      const allowed = ['good\n', "command 'echo' not in allowlist: PATH finds it in fs.host_root, where agents write"];
      expect([...outcomes].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
    }
  });

  test('shell.P1 the words that are judged are the words that run', async () => {
    await using worker = await shipped({ allowlist: ['printf'] });
    const lines = [
      `printf '%s\\n' a"b c"d 'e f' g\\ h`,
      `printf '%s\\n' $'x' \${y} ~ * {a,b} a#b # comment`,
      `printf '%s\\n' "a\\"b" 'a\\b' "\\$x" \\\n z`,
      `printf '%s\\n' "" '' a\tb`,
      `printf '%s\\n' --upload-pack=x -- '-rf' 'a\nb'`,
    ];
    for (const command of lines) {
      const [ran, judged] = await Promise.all([
        worker.call<Reply>('shell::exec', { command }),
        worker.call<{ argv: string[] }>('shell::exec_bg', { command }),
      ]);
      expect(ran.stdout).toBe(
        judged.argv
          .slice(2)
          .map((word) => `${word}\n`)
          .join(''),
      );
    }
  });
});

describe('every word is judged, however many there are', () => {
  const guarded = () => shipped({ allowlist: ['sh', 'echo'], denylist_patterns: ['touch'] });

  test.each([
    ['after 51 commands that do nothing', `${'true; '.repeat(51)}touch ran`],
    ['in a nested subshell', '( ( ( touch ran ) ) )'],
    ['in a here-document', 'cat <<EOF\n$(touch ran)\nEOF'],
    ['after 100,000 characters of nothing', `: ${'x'.repeat(100_000)}; touch ran`],
  ])('%s', async (_, script) => {
    await using worker = await guarded();
    expect(await attempt(worker, { command: 'sh', args: ['-c', script] })).toBe('command matches denylist: touch');
  });

  test('in the last of 16,000 arguments', async () => {
    await using worker = await guarded();
    const args = [...Array.from({ length: 16_000 }, () => 'x'), 'touch'];
    expect(await attempt(worker, { command: 'echo', args })).toBe('command matches denylist: touch');
  });

  test('more than can be judged is refused', async () => {
    await using worker = await guarded();
    const args = ['-c', `touch ran #${'x'.repeat(2 ** 21)}`];
    expect(await attempt(worker, { command: 'sh', args })).toMatch(/^argv: \d+ bytes; the limit is 131072$/);
  });
});

describe('a request cannot change the policy it is judged by', () => {
  test.each([
    { allowlist: [] },
    { denylist_patterns: [] },
    { rules: [] },
    { config: { allowlist: [] } },
    { inherit_env: true },
    { approved: true },
  ])('%j', async (field) => {
    await using worker = await shipped();
    expect(await attempt(worker, { command: 'touch', args: ['ran'], ...field })).toBe(
      "command 'touch' not in allowlist",
    );
  });

  test('and no function of the worker is there to', () => {
    const writing = shell.functions.filter(({ effect }) => effect !== 'read').map(({ id }) => id);
    expect(writing.filter((id) => !id.startsWith('shell::fs::'))).toEqual([
      'shell::exec',
      'shell::exec_bg',
      // These reach only programs that were admitted before.
      'shell::input',
      'shell::attach',
      'shell::kill',
    ]);
  });
});

describe('flags that make a harmless program start others or write', () => {
  const tools = ['find', 'git', 'sed', 'awk', 'curl', 'node', 'python3', 'npm', 'tar', 'sort'];

  test.each([
    ['find . -exec touch ran ;', String.raw`\bfind\b[^|;&]*-exec(dir)?\b`],
    ['find . -execdir touch ran ;', String.raw`\bfind\b[^|;&]*-exec(dir)?\b`],
    [
      'git fetch --upload-pack=touch',
      String.raw`\bgit\b[^|;&]*(--upload-pack|--receive-pack|core\.pager|core\.hooksPath|GIT_SSH_COMMAND)`,
    ],
    [
      'git -c core.pager=touch log',
      String.raw`\bgit\b[^|;&]*(--upload-pack|--receive-pack|core\.pager|core\.hooksPath|GIT_SSH_COMMAND)`,
    ],
    ['sed -i s/a/b/ x', String.raw`\bsed\b[^|;&]*(-i\b|\be\b)`],
    ['sed "1 e touch ran" x', String.raw`\bsed\b[^|;&]*(-i\b|\be\b)`],
    [`awk 'BEGIN { system("touch ran") }'`, String.raw`\bawk\b[^|;&]*system\s*\(`],
    ['curl -o ran http://x', String.raw`\bcurl\b[^|;&]*(file://|-o\s|--output-dir\b|-F\s+@)`],
    ['node -e 1', String.raw`\b(node|python3?)\b[^|;&]*\s-(e|c)\b`],
    ['python3 -c 1', String.raw`\b(node|python3?)\b[^|;&]*\s-(e|c)\b`],
    ['npm run x', String.raw`\bnpm\b[^|;&]*\brun\b`],
  ])('the shipped denylist stops %s', async (command, pattern) => {
    await using worker = await shipped({ allowlist: tools });
    expect(await attempt(worker, { command })).toBe(`command matches denylist: ${pattern}`);
  });

  const rules = [
    {
      program: 'sort',
      args: ['...', '-[a-zA-Z]*o.*|--(o|c).*', '...'],
      decision: 'deny',
      reason: 'sort may not write files or start programs',
      match: ['sort -o out in', 'sort -uoout', 'sort --output=out', 'sort --compress-program=sh in'],
      not_match: ['sort -u in', 'sort in', 'sort -k2 in'],
    },
    {
      program: 'tar',
      args: ['t[vf]*|-t[vf]*', '[^-].*'],
      decision: 'allow',
      reason: 'tar only lists an archive',
      match: ['tar tf a.tar', 'tar -tvf a.tar'],
      not_match: ['tar xf a.tar', 'tar tf a.tar --checkpoint-action=exec=sh'],
    },
  ];

  test.each([
    ['sort -o ran x', "command 'sort' refused by rule: sort may not write files or start programs"],
    ['sort x -oran', "command 'sort' refused by rule: sort may not write files or start programs"],
    ['sort --outp=ran x', "command 'sort' refused by rule: sort may not write files or start programs"],
    ['sort --compress-program=touch x', "command 'sort' refused by rule: sort may not write files or start programs"],
    [
      'tar cf ran --checkpoint=1 --checkpoint-action=exec=touch x',
      "command 'tar' refused by rules; allowed are only: tar only lists an archive",
    ],
    [
      'tar tf x --checkpoint-action=exec=touch',
      "command 'tar' refused by rules; allowed are only: tar only lists an archive",
    ],
    [
      'tar -tf --use-compress-program=touch',
      "command 'tar' refused by rules; allowed are only: tar only lists an archive",
    ],
  ])('a rule stops %s', async (command, message) => {
    await using worker = await shipped({ allowlist: tools, rules });
    expect(await attempt(worker, { command })).toBe(message);
  });
});

describe('the shipped rules stop what programs of the shipped allowlist can do besides looking', () => {
  /** Enough that sort writes some of it to the disk, and so starts the compressor. */
  const sorting = ['--compress-program=./planted', '-S', '1', 'many'];
  const many = Array.from({ length: 1_500 }, (_, i) => `${i * 7919}\n`).join('');
  const planted = { content: '#!/bin/sh\ntouch ran\nexec cat\n', mode: 0o755 };

  test.runIf(process.platform === 'linux')('a planted program runs without them, and with them does not', async () => {
    await using own = await tempDir({ many, planted });
    for (const [config, isRun] of [
      [{ rules: [] }, true],
      [{}, false],
    ] as const) {
      rmSync(own.path('ran'), { force: true });
      await using worker = await serveWorker(shell, { fs: { host_root: own.root }, working_dir: own.root, ...config });
      const calling = worker.call('shell::exec', { command: 'sort', args: sorting });
      const outcome = await calling.then(() => 'done', String);
      expect([existsSync(own.path('ran')), outcome.includes('refused by rule')]).toEqual([isRun, !isRun]);
    }
  });

  const attacks = [
    ...['sort -o ran many', 'sort -uoran many', 'sort many -o ran', 'sort --output ran many', 'sort --outp=ran many'],
    ...['sort --compress-program=sh many', 'sort --co sh many', 'sort -nro ran many', 'sort -zmo ran many'],
    ...['uniq many ran', 'uniq -c many ran', 'uniq many -c ran', 'uniq 1 ran', 'uniq - ran', 'uniq -- many -ran'],
    ...['uniq -f 1 many ran', 'uniq -f1 -- many ran', `uniq '' ran`],
    ...[
      'date -s 2020-01-01',
      'date -us 2020-01-01',
      'date -Rus x',
      'date --set=2020-01-01',
      'date --s x',
      'date -u -sx',
    ],
    ...['date 01010000', 'date 0101000020', 'date 010100002020', 'date 010100002020.30', 'date -u 01010000'],
    ...['date -- 01010000', 'date +%s 01010000', 'date -R 01010000', 'date -d now 01010000', 'date --utc 01010000'],
    ...['hostname evil', 'hostname -b evil', 'hostname -F many', 'hostname -fbF many', 'hostname --file=many'],
    ...['hostname --boot', 'hostname -- evil', 'hostname -v evil', 'hostname -y evil', 'hostname -f evil'],
  ];

  /** Stand-ins for the programs: a command that is not refused neither sets the clock of this machine nor renames it. */
  let standIns: TempDir;
  let worker: ServedWorker;
  beforeAll(async () => {
    const standIn = { content: '#!/bin/sh\necho started\n', mode: 0o755 };
    standIns = await tempDir({ sort: standIn, uniq: standIn, date: standIn, hostname: standIn });
    vi.stubEnv('PATH', `${standIns.root}:${process.env.PATH}`);
    worker = await shipped();
    vi.unstubAllEnvs();
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await standIns[Symbol.asyncDispose]();
  });

  test('the programs that the attacks would start', async () => {
    const outcomes = ['sort', 'uniq', 'date', 'hostname'].map((command) => attempt(worker, { command }));
    expect(await Promise.all(outcomes)).toEqual(Array.from({ length: 4 }, () => 'started\n'));
  });

  test.each(attacks)('%s', async (command) => {
    expect(await attempt(worker, { command })).toMatch(/^command '\w+' refused by rule: /);
    // The same words one by one, and the program by its path.
    const [program, ...args] = command.replaceAll(`''`, '').split(' ');
    expect(await attempt(worker, { command: program, args })).toMatch(/refused by rule: /);
  });

  test.each([
    ...['sort -t o -k 2 many', 'sort -to many', 'sort --check=quiet many', 'sort -rn many'],
    ...['uniq -c many', 'uniq -f1 many', 'uniq --group=append many'],
    ...['date', 'date -Is', 'date -d 20200101', 'date --date 20200101', 'date -ud now', 'date +%s', 'date -r many'],
    ...['hostname', 'hostname -f', 'hostname -I'],
  ])('and not %s', async (command) => {
    dir.add({ many: '1 1\n2 2\n' });
    await using worker = await shipped();
    const reply = await worker.call<Reply>('shell::exec', { command });
    expect(reply.exit_code).toBeLessThan(2);
  });
});

describe('nothing but a sandbox stops', () => {
  const readme = readFileSync(new URL('../../../src/workers/shell/README.md', import.meta.url), 'utf8');

  const guarded = (...allowlist: string[]) => ({ allowlist, denylist_patterns: ['touch'] });

  test.each<[string, object, object]>([
    [
      'a shell that is allowed, from building a denied word',
      { command: 'sh', args: ['-c', 't=tou; ${t}ch made'] },
      guarded('sh'),
    ],
    [
      'an interpreter that is allowed',
      { command: 'node', args: ['--eval=require("fs").writeFileSync("made","")'] },
      guarded('node'),
    ],
    ['env from starting another program', { command: 'env', args: ['sh', '-c', 't=tou; ${t}ch made'] }, guarded('env')],
    ['sort from writing a file, without the shipped rules', { command: 'sort -o made /dev/null' }, { rules: [] }],
    ['uniq from writing a file, without the shipped rules', { command: 'uniq /dev/null made' }, { rules: [] }],
  ])('%s', async (_, payload, config) => {
    await using own = await tempDir();
    await using worker = await serveWorker(shell, { fs: { host_root: own.root }, ...config });
    expect(await worker.call('shell::exec', payload)).toMatchObject({ exit_code: 0 });
    expect(existsSync(own.path('made'))).toBe(true);
    expect(readme).toContain('not an isolation boundary');
  });

  test('a command from reading what its user may read', async () => {
    await using worker = await shipped();
    const reply = await worker.call<Reply>('shell::exec', { command: 'head', args: ['-c', '4', '/etc/hostname'] });
    expect(reply.exit_code).toBe(0);
    expect(readme).toContain('`fs.host_root` does not fence commands');
  });
});
