/**
 * A terminal that the program `script` of util-linux makes, for hosts without `koffi`: it passes pipes on to a terminal.
 *
 * The job's program leads a session of its own below `script`. Signals go to that session, and `stty` sets the size.
 */
import { execFile, spawnSync, type ChildProcess } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { promisify } from 'node:util';

import { listProcesses, type ProcessInfo } from '../children/processes.ts';
import { sendSignal } from '../children/send-signal.ts';
import type { ConnectedTerminal, Terminal, TerminalSize } from './terminal.ts';

export interface ScriptPrograms {
  readonly script: string;
  readonly stty: string;
}

const SYSTEM_PATH = '/usr/bin:/bin';
/** The key that ends the input of a program that reads lines. */
const END_OF_INPUT = Buffer.from([4]);
/** How many polls of the processes `script` gets to start the session. */
const ATTEMPTS = 100;
const PAUSE_MS = 20;

/** Undefined if a program is missing, or if `script` is another one, with other options. */
export function findScript(path = process.env.PATH ?? SYSTEM_PATH): ScriptPrograms | undefined {
  const script = programIn(path, 'script');
  const stty = programIn(path, 'stty');
  if (process.platform !== 'linux' || script === undefined || stty === undefined) return undefined;
  const { stdout } = spawnSync(script, ['--version'], { encoding: 'utf8' });
  if (!/util-linux/.test(stdout ?? '')) return undefined;
  return { script, stty };
}

function programIn(path: string, name: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export class ScriptTerminal implements Terminal {
  readonly #programs: ScriptPrograms;
  readonly #size: TerminalSize;

  constructor(programs: ScriptPrograms, size: TerminalSize) {
    this.#programs = programs;
    this.#size = size;
  }

  /** `script` gives its line to the shell of the user: words in quotes are the same to all of them. */
  wrap(argv: readonly string[]): readonly string[] {
    const { script, stty } = this.#programs;
    const { columns, rows } = this.#size;
    const start = `'${stty}' sane cols ${columns} rows ${rows}; exec "$@"`;
    const line = ['/bin/sh', '-c', start, 'sh', ...argv].map(quoted).join(' ');
    return [script, '-q', '-e', '-f', '-c', `exec ${line}`, '/dev/null'];
  }

  connect(process: ChildProcess): ConnectedTerminal {
    const { stty } = this.#programs;
    const [stdin, leader] = [process.stdin!, process.pid!];
    // A program that has ended reads no input.
    stdin.on('error', () => {});
    process.stderr!.resume();
    // Input that is typed after a resize is sent after it.
    let resized: Promise<unknown> = Promise.resolve();
    const type = async (bytes: Uint8Array) => {
      await resized;
      await new Promise<void>((resolve) => stdin.write(bytes, () => resolve()));
    };
    return {
      output: process.stdout!,
      input: {
        write: type,
        // Types the key: the end of the pipe would end `script`, and the program with it.
        end: () => void type(END_OF_INPUT),
        get isClosed() {
          return stdin.destroyed;
        },
      },
      resize: ({ columns, rows }) => {
        resized = resized.then(async () => {
          const path = terminalOf(await sessionBelow(leader, process));
          if (path !== undefined)
            await promisify(execFile)(stty, ['-F', path, 'cols', `${columns}`, 'rows', `${rows}`]);
        });
        resized = resized.catch(() => {});
      },
      async sendSignal(name) {
        const session = await sessionBelow(leader, process);
        if (session !== undefined) sendSignal(-session, name);
      },
    };
  }

  close(): void {}
}

/** The leader of the session that `script` made; undefined when the job has ended. */
async function sessionBelow(first: number, process: ChildProcess): Promise<number | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS && process.exitCode === null && process.signalCode === null; attempt++) {
    const session = ledBelow(first, await listProcesses());
    if (session !== undefined) return session;
    await passed(PAUSE_MS);
  }
  return undefined;
}

/** Other processes may be between the two, such as `nsenter`. */
function ledBelow(first: number, processes: readonly ProcessInfo[]): number | undefined {
  const below = new Set([first]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, ppid } of processes) if (below.has(ppid)) below.add(pid);
  }
  return processes.find(({ pid, sid }) => pid !== first && pid === sid && below.has(pid))?.pid;
}

/** The path of its terminal, from the number in its status: the program may have closed its streams. */
function terminalOf(pid: number | undefined): string | undefined {
  if (pid === undefined) return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const device = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]);
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  return device === 0 ? undefined : `/dev/pts/${minor}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
