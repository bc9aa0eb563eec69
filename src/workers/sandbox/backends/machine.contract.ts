/** One machine of a backend for one test, with its agent; gone when the test is over. */
import type { AgentClient as Agent, ExecOutcome, ExecSpec } from '../guest/agent-client.ts';
import { AgentClient } from '../guest/agent-client.ts';
import { GuestFileSystem } from '../guest/guest-file-system.ts';
import { GuestFiles } from '../guest/guest-files.ts';
import type { Instance, SandboxBackend, Shape } from './backend.ts';

/** Long enough for an emulated machine; a hang ends here. */
const PATIENCE_MS = 15_000;

export interface TestMachine extends AsyncDisposable {
  readonly instance: Instance;
  readonly agent: Agent;
  readonly files: GuestFiles;
  readonly fileSystem: GuestFileSystem;
  exec(argv: readonly string[], more?: Partial<ExecSpec>): Promise<ExecOutcome>;
  /** A script for sh, and what it printed: both streams, trimmed, and its exit code. */
  sh(script: string, more?: Partial<ExecSpec>): Promise<{ stdout: string; stderr: string; exitCode: number | string }>;
}

const patience = () => AbortSignal.timeout(PATIENCE_MS);

let count = 0;

export async function startMachine(backend: SandboxBackend, shape: Shape): Promise<TestMachine> {
  const id = `test-${process.pid}-${count++}`;
  await backend.prepare(shape, patience());
  const instance = await backend.create(shape, { id, signal: patience() });
  const stop = async () => {
    await instance.kill();
    await instance.dispose();
  };
  let agent: Agent;
  try {
    agent = await AgentClient.open(instance.channel, { deadlineMs: PATIENCE_MS });
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
      timeoutMs: PATIENCE_MS,
      signal: patience(),
      ...more,
    });
  return {
    instance,
    agent,
    files: new GuestFiles(agent),
    fileSystem: new GuestFileSystem(agent),
    exec,
    async sh(script, more) {
      const outcome = await exec(['/bin/sh', '-c', script], more);
      if (outcome.kind === 'not-started') return { stdout: '', stderr: '', exitCode: outcome.errno };
      const exitCode = outcome.kind === 'exited' ? outcome.exitCode : outcome.kind;
      return { stdout: outcome.stdout.toString().trim(), stderr: outcome.stderr.toString().trim(), exitCode };
    },
    [Symbol.asyncDispose]: stop,
  };
}
