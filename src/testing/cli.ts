/**
 * Runs the built command line as a child process, with its own home and working directory.
 *
 * It is the result of `npm run build`, not the sources; only PATH of the caller's environment reaches it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { shareProgramsIn } from './images/shared-programs.ts';

const BUILT = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Just below the 60 s of a test, whose own timeout does not show the output of the command. */
const PATIENCE_MS = 55_000;

export interface CliOptions {
  cwd?: string;
  /** Becomes HOME; its `.config` becomes XDG_CONFIG_HOME. */
  home?: string;
  env?: Record<string, string>;
  /** Another executable instead of the built one. */
  bin?: string;
  /** User and group that it runs as. */
  uid?: number | undefined;
}

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function runCli(args: string[], options: CliOptions = {}): Promise<CliRun> {
  await using cli = new CliProcess(args, options);
  const code = await cli.exited();
  return { code, stdout: cli.stdout, stderr: cli.stderr };
}

/** Starts a command that stays up, and waits until it says `ready`. */
export async function startCli(args: string[], options: CliOptions = {}): Promise<CliProcess> {
  const cli = new CliProcess(args, options);
  try {
    await cli.until(() => /\bready\b.*\n/.test(cli.stdout), 'the line that says ready');
    return cli;
  } catch (error) {
    await cli[Symbol.asyncDispose]();
    throw error;
  }
}

export class CliProcess implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly #ended: Promise<void>;
  #isEnded = false;
  #watchers = new Set<() => void>();

  constructor(args: string[], { cwd, home = ownHome(), env = {}, bin, uid }: CliOptions) {
    const words = bin === undefined ? [BUILT, ...args] : args;
    this.child = spawn(bin ?? process.execPath, words, {
      cwd: cwd ?? join(ownHome(), 'cwd'),
      ...(uid !== undefined && { uid, gid: uid }),
      env: {
        PATH: process.env.PATH,
        HOME: home,
        XDG_CONFIG_HOME: join(home, '.config'),
        // The same preset on every machine; a test of another preset names it.
        WORKCELL_PRESET: 'iii',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#take('stdout', text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#take('stderr', text));
    this.#ended = new Promise((resolve, reject) => this.child.on('close', () => resolve()).on('error', reject));
    const end = () => {
      this.#isEnded = true;
      this.#notify();
    };
    this.#ended.then(end, end);
  }

  /** The engine's URL from its output, e.g. `ws://127.0.0.1:49134`. */
  get url(): string {
    return /\bready on (ws:\S+)/.exec(this.stdout)?.[1] ?? '';
  }

  /** The same port for plain requests. */
  get http(): string {
    return this.url.replace(/^ws/, 'http');
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Resolves once standard error contains the text, from the given offset on. */
  async logged(text: string, from = 0): Promise<void> {
    await this.until(() => this.stderr.includes(text, from), `"${text}" in the log`);
  }

  /** Resolves once the predicate is true; it is checked whenever something is printed. */
  async until(isTrue: () => boolean, what: string): Promise<void> {
    let check = () => {};
    const holds = new Promise<void>((resolve, reject) => {
      check = () => {
        if (isTrue()) resolve();
        else if (this.#isEnded) reject(new Error(`ended without ${what}\n${this.stdout}\n${this.stderr}`));
      };
    });
    this.#watchers.add(check);
    check();
    try {
      await within(holds, () => `${what} did not come\n${this.stdout}\n${this.stderr}`);
    } finally {
      this.#watchers.delete(check);
    }
  }

  /** Sends a signal and waits for the exit. A killed process has no exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited();
  }

  async exited(): Promise<number | null> {
    await within(this.#ended, () => `${this.child.spawnargs.join(' ')} did not end\n${this.stdout}\n${this.stderr}`);
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }

  #take(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
    this.#notify();
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

async function within<T>(promise: Promise<T>, explain: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(explain())), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

let home: string | undefined;

/**
 * One home for all processes that the test files of this worker start. Vitest ends a worker without an exit event, so
 * the home is in the folder that vitest.config.ts removes.
 */
function ownHome(): string {
  if (home === undefined) {
    home = realpathSync(mkdtempSync(join(process.env.WORKCELL_TEST_STATE_HOME ?? tmpdir(), 'home-')));
    mkdirSync(join(home, 'cwd'));
    shareProgramsIn(join(home, '.cache/workcell/sandbox'));
  }
  return home;
}
