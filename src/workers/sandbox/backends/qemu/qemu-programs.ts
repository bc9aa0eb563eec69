/**
 * Finds QEMU for this processor, and bwrap.
 *
 * Capabilities are queried from QEMU itself; its version proves nothing.
 */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { qemuProgram } from './arguments.ts';

const run = promisify(execFile);

const BWRAP = 'bwrap';

const ASK_MS = 10_000;

export interface QemuPrograms {
  readonly qemu: string;
  /** Undefined without bwrap. */
  readonly bwrap: string | undefined;
  /** QEMU's whole version line, with the packager's own number. */
  readonly version: string;
  /** Whether it can map a read-only file as memory by itself. */
  readonly mapsReadOnly: boolean;
}

export async function openPrograms(): Promise<QemuPrograms> {
  const qemu = onPath(qemuProgram());
  if (qemu === undefined) throw new Error('QEMU is missing; install qemu-system-x86');
  const bwrap = onPath(BWRAP);
  if (bwrap === undefined && process.platform === 'linux') throw new Error('bwrap is missing; install bubblewrap');

  const [version, properties] = await Promise.all([
    run(qemu, ['--version'], { timeout: ASK_MS }),
    run(qemu, ['-object', 'memory-backend-file,help'], { timeout: ASK_MS }),
  ]);
  return {
    qemu,
    bwrap,
    version: version.stdout.split('\n')[0]!,
    mapsReadOnly: /^\s*rom=/m.test(properties.stdout),
  };
}

/** Identifies the programs without starting them: changes when one is installed or replaced. */
export function programsFingerprint(): string {
  return [onPath(qemuProgram()), onPath(BWRAP)]
    .map((program) => (program === undefined ? '-' : `${program}@${statSync(program).mtimeMs}`))
    .join(' ');
}

function onPath(name: string): string | undefined {
  const folder = (process.env.PATH ?? '').split(delimiter).find((candidate) => existsSync(join(candidate, name)));
  return folder === undefined ? undefined : realpathSync(join(folder, name));
}
