/**
 * Compiles a small C program of ours on demand and caches it by the hash of its sources.
 *
 * The result is static and depends only on sources, flags and compiler, so two builds are equal byte for byte.
 */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The first gives the smallest program; all link statically, so no library of the guest is needed. */
const COMPILERS = ['musl-gcc', 'gcc', 'cc'];
const FLAGS = ['-std=gnu11', '-O2', '-s', '-Wl,--build-id=none'];
const KIND_FLAGS = { program: ['-static'], library: ['-shared', '-fPIC', '-nostdlib'] } as const;
const COMPILE_MS = 60_000;

export interface CProgram {
  name: string;
  /** Paths; `.h` files are only included by the others. */
  sources: readonly string[];
  cacheDir: string;
  /** A library is loaded into a program of the host. */
  kind?: keyof typeof KIND_FLAGS;
}

/** A source that lies beside a module, in `src` as in `dist`. */
export function sourcePath(name: string, moduleUrl: string): string {
  return fileURLToPath(new URL(name, moduleUrl));
}

const building = new Map<string, Promise<string>>();

/** The path of the program, built unless it is cached. */
export async function buildProgram(program: CProgram): Promise<string> {
  const target = join(program.cacheDir, `${program.name}-${hashOf(program)}`);
  if (existsSync(target)) return target;

  const running = building.get(target) ?? compile(program, target).finally(() => building.delete(target));
  building.set(target, running);
  return running;
}

function hashOf({ sources, kind }: CProgram): string {
  const hash = createHash('sha256').update([...flagsFor(kind), process.arch].join(' '));
  for (const source of sources) hash.update(`\0${basename(source)}\0`).update(readFileSync(source));
  return hash.digest('hex').slice(0, 16);
}

function flagsFor(kind: CProgram['kind'] = 'program'): string[] {
  return [...FLAGS, ...KIND_FLAGS[kind]];
}

async function compile({ sources, cacheDir, kind }: CProgram, target: string): Promise<string> {
  mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
  const draft = `${target}.${randomUUID()}`;
  const files = sources.filter((source) => source.endsWith('.c'));
  try {
    const problems: string[] = [];
    for (const compiler of COMPILERS) {
      const problem = await compileWith([compiler, ...flagsFor(kind)], files, draft);
      if (problem === undefined) {
        renameSync(draft, target);
        return target;
      }
      problems.push(`${compiler}: ${problem}`);
    }
    throw new Error(
      `no C compiler could build ${basename(target)}; install musl-tools or gcc (${problems.join('; ')})`,
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Returns the error, if any. */
async function compileWith(
  [compiler, ...flags]: [string, ...string[]],
  files: string[],
  output: string,
): Promise<string | undefined> {
  try {
    await run(compiler, [...flags, '-o', output, ...files], { timeout: COMPILE_MS });
    return undefined;
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    return code === 'ENOENT' ? 'not installed' : (stderr?.trim().split('\n').at(-1) ?? String(code));
  }
}
