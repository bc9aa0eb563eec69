/** The guest agent as a plain process of this machine, built with every check that the compiler offers. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { AGENT_SOURCES } from '../../../src/sandbox/guest/build-agent.ts';

const GUEST = fileURLToPath(new URL('../../../src/sandbox/guest/agent', import.meta.url));

const CACHE_DIR = fileURLToPath(new URL('../../../node_modules/.cache/workcell-attacks', import.meta.url));

/** A copy of a program that is compiled once for all files and runs; each file ends the processes of its own copy. */
export function buildSanitized(target: string): string {
  const hash = createHash('sha256');
  for (const name of AGENT_SOURCES) hash.update(readFileSync(join(GUEST, name)));
  const built = join(CACHE_DIR, `agent-${hash.digest('hex').slice(0, 12)}`);
  if (!existsSync(built)) {
    mkdirSync(CACHE_DIR, { recursive: true });
    renameSync(compileSanitized(`${built}.${randomUUID()}`), built);
  }
  copyFileSync(built, target);
  return target;
}

/** The plain program where the compiler has no checks. */
function compileSanitized(target: string): string {
  const sources = AGENT_SOURCES.filter((name) => name.endsWith('.c')).map((name) => join(GUEST, name));
  const flags = ['-std=gnu11', '-O1', '-g', '-o', target, ...sources];
  try {
    execFileSync('gcc', ['-fsanitize=address,undefined', '-static-libasan', ...flags], { stdio: 'pipe' });
  } catch {
    execFileSync('gcc', flags, { stdio: 'pipe' });
  }
  return target;
}

/** Children of the agent have no standard error, so findings of the checks are written to files of this folder. */
export function reportingTo(folder: string): NodeJS.ProcessEnv {
  const options = `log_path=${join(folder, 'fault')}`;
  return { ...process.env, ASAN_OPTIONS: `${options}:detect_leaks=0`, UBSAN_OPTIONS: options };
}

export function faultsIn(folder: string): string[] {
  const reports = readdirSync(folder).filter((name) => name.startsWith('fault.'));
  return reports.map((name) => readFileSync(join(folder, name), 'utf8'));
}

export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  readonly channel: Duplex;
}

/** Not the first process of anything: it lives among those of this machine, and works on files below `cwd`. */
export function startAgent(program: string, { cwd, env = {} }: { cwd: string; env?: NodeJS.ProcessEnv }): AgentProcess {
  const child: ChildProcess = spawn(program, ['--fd', '3'], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const channel = child.stdio[3] as Duplex;
  channel.on('error', () => {});
  return {
    pid: child.pid!,
    channel,
    async [Symbol.asyncDispose]() {
      channel.destroy();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      // Keepers of commands outlive an agent that is not the first process of a namespace.
      for (const pid of processesNaming(program)) execFileSync('sh', ['-c', `kill -9 ${pid} 2>/dev/null || true`]);
    },
  };
}

/** Processes with this word in their command line. */
export function processesNaming(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}
