/**
 * One machine of a backend with its agent: for one test, killed at its end, or shared by tests that leave no traces.
 */
import { afterAll, onTestFailed } from 'vitest';

import type { ExecutionResult } from '#host';
import {
  type AgentClient as Agent,
  type ExecSpec,
  AgentClient,
  GuestError,
  guestFileSystem,
  GuestFiles,
} from '#sandbox/guest';
import type { Instance, SandboxBackend, Shape } from './backend.ts';

/** Long enough for an emulated machine; a hang ends here. */
const PATIENCE_MS = 60_000;

export interface TestMachine extends AsyncDisposable {
  readonly instance: Instance;
  readonly agent: Agent;
  readonly files: GuestFiles;
  readonly fileSystem: ReturnType<typeof guestFileSystem>;
  exec(argv: readonly string[], more?: Partial<ExecSpec>): Promise<ExecutionResult>;
  /** Runs a script with sh: returns both streams, trimmed, and its exit code. */
  sh(script: string, more?: Partial<ExecSpec>): Promise<{ stdout: string; stderr: string; exitCode: number | string }>;
}

/** For one operation on files; a hang ends here. */
export const scope = () => ({ signal: AbortSignal.timeout(120_000) });

export async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

let count = 0;

/** `slowness`: factor by which everything is slower there. */
export async function startMachine(backend: SandboxBackend, shape: Shape, slowness = 1): Promise<TestMachine> {
  const patienceMs = PATIENCE_MS * slowness;
  const id = `test-${process.pid}-${count++}`;
  await backend.prepare(shape, AbortSignal.timeout(patienceMs));
  const instance = await backend.create(shape, { id, signal: AbortSignal.timeout(patienceMs) });
  const stop = async () => {
    await instance.kill();
    await instance.dispose();
  };
  let agent: Agent;
  try {
    agent = instance.agent ?? (await AgentClient.open(instance.channel, { deadlineMs: patienceMs }));
    await instance.personalize?.(agent);
  } catch (error) {
    await stop();
    throw new Error((await instance.exited).stderrTail, { cause: error });
  }
  const exec: TestMachine['exec'] = (argv, more) =>
    agent.exec({
      argv,
      env: [['PATH', '/usr/bin:/bin']],
      cwd: '/',
      maxOutputBytes: 1_048_576,
      timeoutMs: patienceMs,
      signal: AbortSignal.timeout((more?.timeoutMs ?? 0) + patienceMs),
      ...more,
    });
  return {
    instance,
    agent,
    files: new GuestFiles(agent),
    fileSystem: guestFileSystem(agent),
    exec,
    async sh(script, more) {
      try {
        const { stdout, stderr, exitCode, timedOut } = await exec(['/bin/sh', '-c', script], more);
        const end = timedOut ? 'timed-out' : (exitCode ?? 'killed');
        return { stdout: stdout.toString().trim(), stderr: stderr.toString().trim(), exitCode: end };
      } catch (error) {
        if (!(error instanceof GuestError)) throw error;
        return { stdout: '', stderr: '', exitCode: error.code };
      }
    },
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * A machine for the tests of the group that calls this: started for the first, ended after the last, and replaced after
 * one that fails. Files of the test before are removed; processes are not, so a test that leaves any starts its own.
 */
export function sharedMachine(start: () => Promise<TestMachine>): () => Promise<TestMachine> {
  let current: Promise<TestMachine> | undefined;
  const end = async () => {
    const last = current;
    current = undefined;
    await (await last?.catch(() => undefined))?.[Symbol.asyncDispose]();
  };
  afterAll(end);
  return async () => {
    onTestFailed(end);
    const machine = await (current ??= start());
    const cleaned = await machine.sh('cd /tmp && rm -rf /tmp/* /tmp/.[!.]* /home/* /dev/shm/*');
    if (cleaned.exitCode !== 0) throw new Error(`the files of the test before stay: ${cleaned.stderr}`);
    return machine;
  };
}
