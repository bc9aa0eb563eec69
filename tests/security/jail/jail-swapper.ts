/** A second process that exchanges two names for ever: the attack on every jailed operation. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Exchanges two names atomically: bursts without a pause to fall between two system calls, and pauses in which a
 * whole operation fits. Both differ in length, so that the pauses meet either side and also the slowest operation.
 */
const EXCHANGER = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(int count, char **names) {
  struct timespec pause = {0, 0};
  while (count == 3) {
    for (int burst = 1 + rand() % 30; burst > 0; burst--)
      syscall(SYS_renameat2, AT_FDCWD, names[1], AT_FDCWD, names[2], 2 /* RENAME_EXCHANGE */);
    pause.tv_nsec = rand() % 8 == 0 ? 6000000 : 100000 + rand() % 1500000;
    nanosleep(&pause, 0);
  }
}`;

/** The same without a compiler: three renames, with moments at which a name is missing. */
const RENAMER = `
const { renameSync } = require('node:fs');
const [a, b] = process.argv.slice(1);
const rename = (from, to) => { try { renameSync(from, to); } catch {} };
for (;;) { rename(a, a + '~'); rename(b, a); rename(a + '~', b); }`;

/** Compiled once for all runs: a hundred attacks start it. */
const CACHE_DIR = fileURLToPath(new URL('../../../node_modules/.cache/workcell-attacks', import.meta.url));
const PROGRAM = `${CACHE_DIR}/exchange-${createHash('sha256').update(EXCHANGER).digest('hex').slice(0, 12)}`;

/** Runs the work while the names are swapped. */
export async function whileSwapping<T>(names: [string, string], work: () => Promise<T>): Promise<T> {
  const attacker = start(names);
  try {
    return await work();
  } finally {
    attacker.kill('SIGKILL');
    await once(attacker, 'exit');
  }
}

function start(names: [string, string]): ChildProcess {
  const [program, args] = isCompiled() ? [PROGRAM, names] : [process.execPath, ['-e', RENAMER, ...names]];
  return spawn(program, args, { stdio: 'inherit' });
}

function isCompiled(): boolean {
  if (existsSync(PROGRAM)) return true;
  mkdirSync(CACHE_DIR, { recursive: true });
  const draft = `${PROGRAM}.${randomUUID()}`;
  try {
    execFileSync(process.env.CC ?? 'gcc', ['-O2', '-x', 'c', '-o', draft, '-'], { input: EXCHANGER, stdio: 'pipe' });
  } catch {
    return false;
  }
  renameSync(draft, PROGRAM);
  return true;
}
