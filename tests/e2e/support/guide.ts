/**
 * A guide as a test: its `console` blocks are typed into one shell, in order, and must print what the page shows.
 *
 * - `$ command` is run; `> ` continues the line before; the rest is its output.
 * - A command whose output ends with a ready line keeps running until the page ends or another replaces it.
 * - `<!-- file: name -->` before a block makes it a file in /tmp/demo, or in ~ with `~/name`.
 * - ```` ```console git ```` is run only where there is git; `console sandbox` only where there are sandboxes of namespaces,
 *   `console machine` only where the shipped configuration gives any.
 * - Other blocks of commands are not run; `<!-- not run: why -->` before one says why not.
 *
 * /tmp/demo, ~ and port 49134 of the page are directories and a port of the test. Ids, hashes, times and durations may differ.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { tempDir } from '../../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Modules that programs of the guides import. */
const PACKAGES = ['iii-sdk', 'zod', 'ai', '@modelcontextprotocol'];
const PATIENCE_MS = 120_000;

type Step = { file: string; content: string } | { command: string; shown: string; lines: [number, number] };

export interface GuideOptions {
  /** Directory of sandbox images; without it there are none. */
  sandboxCache?: string;
  /** Whether sandboxes work with the shipped configuration. */
  hasMachines?: boolean;
}

/** The page with the output of its commands here; equal to the page when nothing differs. */
export async function playGuide(page: string, options: GuideOptions): Promise<string> {
  const { sandboxCache } = options;
  await using dir = await tempDir({ 'bin/': '', 'home/': '', 'demo/': '', 'cache/workcell/': '', 'node_modules/': '' });
  for (const name of PACKAGES) symlinkSync(join(ROOT, 'node_modules', name), dir.path(`node_modules/${name}`));
  symlinkSync(ROOT, dir.path('node_modules/workcell'));
  if (sandboxCache !== undefined) symlinkSync(sandboxCache, dir.path('cache/workcell/sandbox'));
  dir.add({ 'bin/workcell': { content: `#!/bin/sh\nexec node '${ROOT}/dist/cli/main.js' "$@"\n`, mode: 0o755 } });

  const port = String(await freePort());
  const here = (text: string) => text.replaceAll('/tmp/demo', dir.path('demo')).replaceAll('49134', port);
  const there = (text: string) =>
    text.replaceAll(dir.path('demo'), '/tmp/demo').replaceAll(dir.path('home'), '~').replaceAll(port, '49134');
  await using shell = new Terminal(dir.path('demo'), {
    PATH: `${dir.path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: dir.path('home'),
    XDG_CACHE_HOME: dir.path('cache'),
    PYENV_VERSION: process.env.PYENV_VERSION ?? 'system',
    III_URL: `ws://127.0.0.1:${port}`,
    NO_COLOR: '1',
  });

  const lines = page.split('\n');
  let shift = 0;
  for (const step of stepsOf(lines, options)) {
    if ('file' in step) {
      dir.add({ [step.file.replace(/^~/, 'home').replace(/^(?!home\/)/, 'demo/')]: here(step.content) });
      continue;
    }
    const staysUp = /\bready\b[^\n]*$/.test(step.shown);
    const typed = here(step.command).replace(/^workcell start\b/, `workcell start --port ${port}`);
    const printed = there(await (staysUp ? shell.keep(typed) : shell.run(typed)));
    if (masked(printed) === masked(step.shown)) continue;
    const [from, to] = step.lines;
    lines.splice(from + shift, to - from, ...(printed === '' ? [] : printed.split('\n')));
    shift += (printed === '' ? 0 : printed.split('\n').length) - (to - from);
  }
  return lines.join('\n');
}

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function writePage(path: string, text: string): void {
  writeFileSync(join(ROOT, path), text);
}

/** Files and commands in the order of the page; a command knows which lines show its output. */
function stepsOf(lines: readonly string[], options: GuideOptions): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\S.*)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    const file = /^<!-- file: (\S+) -->$/.exec(lineBefore(lines, at))?.[1];
    if (file !== undefined) steps.push({ file, content: `${lines.slice(at + 1, end).join('\n')}\n` });
    else if (/^console\b/.test(language) && hasAll(language.split(' ').slice(1), options))
      steps.push(...commandsOf(lines, at + 1, end));
    at = end;
  }
  return steps;
}

/** Blocks in a language of shells, each with the reason why it is not run, if it gives one. */
export function blocksNotRun(page: string): { block: string; why?: string }[] {
  const lines = page.split('\n');
  return lines.flatMap((line, at) => {
    if (!/^```(sh|bash|shell)\b/.test(line)) return [];
    const why = /^<!-- not run: (\S.*) -->$/.exec(lineBefore(lines, at))?.[1];
    return [{ block: lines.slice(at + 1, lines.indexOf('```', at + 1)).join('\n'), why }];
  });
}

/** The servers that the blocks of JSON configure for clients, whatever the clients call the list. A list of tools is not one. */
export function configuredServers(page: string): { command: string; args: string[] }[] {
  const blocks = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, text]) => JSON.parse(text!) as object);
  // One client has program and arguments in one list, and switches for its own tools beside the servers.
  type Server = { command: string | string[]; args?: string[] };
  return blocks.flatMap((block) =>
    Object.values(block)
      .flatMap((servers: Record<string, Server | boolean>) => Object.values(servers))
      .filter((server): server is Server => typeof server === 'object' && !Array.isArray(server))
      .map(({ command: words, args = [] }) => {
        const [command = '', ...more] = [words].flat();
        return { command, args: [...more, ...args] };
      }),
  );
}

/** The last line above that is not empty. */
function lineBefore(lines: readonly string[], at: number): string {
  return lines.slice(0, at).findLast((line) => line !== '') ?? '';
}

function hasAll(needs: readonly string[], { sandboxCache, hasMachines = false }: GuideOptions): boolean {
  return needs.every((need) => {
    if (need === 'sandbox') return sandboxCache !== undefined;
    return need === 'machine' ? hasMachines : hasProgram(need);
  });
}

export function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).error === undefined;
}

function commandsOf(lines: readonly string[], from: number, end: number): Step[] {
  const starts = lines
    .map((line, at) => (at >= from && at < end && line.startsWith('$ ') ? at : -1))
    .filter((at) => at >= 0);
  return starts.map((start, nth) => {
    const stop = starts[nth + 1] ?? end;
    let output = start + 1;
    while (output < stop && lines[output]!.startsWith('> ')) output++;
    const command = lines.slice(start, output).map((line) => line.slice(2));
    return { command: command.join('\n'), shown: lines.slice(output, stop).join('\n'), lines: [output, stop] };
  });
}

/** Replaces the values that differ from run to run. */
function masked(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/sha256:[\da-f]{64}/g, 'HASH')
    .replaceAll(/("(?:duration_ms|mtime|age_secs|\w+_at(?:_ms)?)": ?)\d+/g, '$10')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d{10,}\b/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, 'LASTED')
    .trimEnd();
}

/** One shell for the page, and its background processes. */
class Terminal implements AsyncDisposable {
  readonly #cwd: string;
  readonly #env: Record<string, string>;
  readonly #shell: ChildProcess;
  readonly #kept = new Map<string, ChildProcess>();

  constructor(cwd: string, env: Record<string, string>) {
    this.#cwd = cwd;
    this.#env = env;
    this.#shell = this.#spawn('exec bash --noprofile --norc 2>&1');
  }

  /** The output of a command until it exits. */
  async run(command: string): Promise<string> {
    const sentinel = `--- ${crypto.randomUUID()} ---`;
    const printed = until(this.#shell, (text) => text.includes(sentinel), command);
    this.#shell.stdin!.write(`{ ${command}\n} </dev/null\nprintf '\\n%s\\n' '${sentinel}'\n`);
    return (await printed).split(sentinel)[0]!.trimEnd();
  }

  /** The output until it is ready; it replaces a running command of the same name. */
  async keep(command: string): Promise<string> {
    const name = command.split(' ').slice(0, 2).join(' ');
    await this.#end(this.#kept.get(name));
    const child = this.#spawn(`exec ${command}`);
    this.#kept.set(name, child);
    return (await until(child, (text) => /\bready\b.*\n/.test(text), command)).trimEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [...this.#kept.values(), this.#shell]) await this.#end(child);
  }

  #spawn(command: string): ChildProcess {
    const stdio = ['pipe', 'pipe', 'ignore'] as const;
    const child = spawn('bash', ['--noprofile', '--norc', '-c', command], {
      cwd: this.#cwd,
      env: this.#env,
      stdio: [...stdio],
    });
    child.stdout.setEncoding('utf8');
    return child;
  }

  async #end(child: ChildProcess | undefined): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill(child === this.#shell ? 'SIGKILL' : 'SIGTERM');
    await ended;
  }
}

function until(child: ChildProcess, isEnough: (text: string) => boolean, command: string): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const stop = (problem: string) => reject(new Error(`${command}\n${problem}\n${text}`));
    const late = setTimeout(() => stop('did not come to an end'), PATIENCE_MS);
    const onClose = () => stop('ended too early');
    const onData = (more: string) => {
      text += more;
      if (!isEnough(text)) return;
      clearTimeout(late);
      child.stdout!.off('data', onData);
      child.off('close', onClose);
      resolve(text);
    };
    child.stdout!.on('data', onData);
    child.once('close', onClose);
  });
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
