/** A second process that exchanges two names for ever: the attack on every jailed operation. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

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

/** Runs the work while the names are swapped. `program` is where the compiled attacker goes. */
export async function whileSwapping<T>(program: string, names: [string, string], work: () => Promise<T>): Promise<T> {
  const attacker = start(program, names);
  try {
    return await work();
  } finally {
    attacker.kill('SIGKILL');
    await once(attacker, 'exit');
  }
}

function start(program: string, names: [string, string]): ChildProcess {
  try {
    execFileSync(process.env.CC ?? 'gcc', ['-O2', '-x', 'c', '-o', program, '-'], { input: EXCHANGER, stdio: 'pipe' });
  } catch {
    return spawn(process.execPath, ['-e', RENAMER, ...names], { stdio: 'inherit' });
  }
  return spawn(program, names, { stdio: 'inherit' });
}
