/**
 * Finds `runsc` on this host: its path, its version, and the options it knows.
 *
 * Options differ between releases, so they are read from the program's help; its version proves nothing.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Options that the isolation and the limits of a sandbox depend on. */
const NEEDED = ['network', 'ignore-cgroups', 'rootless'];

const ASK_MS = 10_000;

export interface Runsc {
  path: string;
  version: string;
  /** Global options, before the command, for every sandbox. */
  options: readonly string[];
}

/** Returns the first one on the PATH. */
export function findRunsc(path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'runsc'))
    .find(isExecutable);
}

/** Changes whenever the program does. */
export function fingerprintOf(program: string | undefined): string {
  if (program === undefined) return '';
  const { mtimeMs, size } = statSync(program);
  return `${program} ${size} ${mtimeMs}`;
}

export async function askRunsc(path: string, { isRoot }: { isRoot: boolean }): Promise<Runsc> {
  const known = optionsIn(await say(path, 'flags'));
  const missing = NEEDED.filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`${path} has no option ${missing.join(', ')}: install a newer gVisor`);

  // No platform option: the build's default is the best that needs no device.
  const options = ['--network=none', '--ignore-cgroups'];
  // The writable layer is the launcher's. Builds that know this option would otherwise add their own.
  if (known.has('overlay2')) options.push('--overlay2=none');
  if (!isRoot) options.push('--rootless');
  const [version = ''] = (await say(path, '--version')).split('\n');
  return { path, version: version.replace('runsc version ', ''), options };
}

async function say(path: string, word: string): Promise<string> {
  const { stdout, stderr } = await run(path, [word], { timeout: ASK_MS, env: {} });
  return stdout + stderr;
}

/** Parses the usual help of Go programs: a line of two blanks, a dash and the name for each. */
function optionsIn(help: string): Set<string> {
  return new Set([...help.matchAll(/^ {2}-{1,2}([\w-]+)/gm)].map(([, name]) => name!));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
