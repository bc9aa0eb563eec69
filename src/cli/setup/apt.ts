/**
 * Installs Debian packages by apt, as root, with its own progress; elsewhere only the command can be shown.
 *
 * A failed installation is retried once after `apt-get update`: the package lists may be old.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { SetupError } from './setup-error.ts';

const run = promisify(execFile);

const ASK_MS = 60_000;
const STDERR_TAIL_BYTES = 2000;
const INSTALL = ['install', '-y', '--no-install-recommends'];

/** The command for the user to run. */
export function installCommand(packages: readonly string[]): string {
  return ['apt-get', ...INSTALL, ...packages].join(' ');
}

/** Why this process cannot install, or undefined. */
export function whyNoInstall(): string | undefined {
  const hasApt = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'apt-get')));
  if (process.platform !== 'linux' || !hasApt) return 'this system has no apt';
  if (process.env.WORKCELL_NO_APT) return 'WORKCELL_NO_APT is set';
  return process.geteuid?.() === 0 ? undefined : 'only root can install';
}

/** Download size, dependencies included; undefined when apt does not know the packages yet. */
export async function downloadBytes(packages: readonly string[]): Promise<number | undefined> {
  try {
    const { stdout } = await run('apt-get', [...INSTALL, '--print-uris', ...packages], { timeout: ASK_MS });
    const sizes = [...stdout.matchAll(/^'\S+' \S+ (\d+)/gm)].map(([, size]) => Number(size));
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return undefined;
  }
}

type OnProgress = (line: string) => void;

/** Throws with the end of apt's error output. */
export async function install(packages: readonly string[], signal: AbortSignal, onProgress: OnProgress): Promise<void> {
  if ((await apt([...INSTALL, ...packages], signal, onProgress)) === undefined) return;
  const problem =
    (await apt(['update'], signal, onProgress)) ?? (await apt([...INSTALL, ...packages], signal, onProgress));
  if (problem !== undefined) throw new SetupError(`apt-get failed: ${problem}`);
}

/** Returns the error, if any. */
async function apt(args: string[], signal: AbortSignal, onProgress: OnProgress): Promise<string | undefined> {
  const child = spawn('apt-get', ['-q', '-o', 'APT::Status-Fd=3', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    signal,
  });
  let complaint = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-STDERR_TAIL_BYTES);
  });
  createInterface(child.stdio[3] as Readable).on('line', (line) => {
    // `dlstatus:1:20.5:Retrieving file 1 of 2` and `pmstatus:runsc:60.0:Unpacking runsc`.
    const [, , percent = '', what = ''] = line.split(':');
    if (what !== '') onProgress(`${Math.round(Number(percent))} % ${what}`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? undefined : complaint.trim() || `exit code ${code}`;
}
