/**
 * Shared by `compat:python` and `compat:rust`: the built Workcell with every worker on a directory of its own, the
 * samples of the seeds, and a runner for programs with a deadline.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function serveForPrograms() {
  const { createWorkcell } = await import('../../../dist/library/index.js');
  const workspace = mkdtempSync(join(tmpdir(), 'workcell-compat-workspace-'));
  const cell = await createWorkcell({ workspace, port: 0 });
  const { port } = new URL(cell.url);
  return {
    workspace,
    call: (...asked) => cell.call(...asked),
    /** A sample of the seeds, word for word but for the port. */
    sample: (name) =>
      readFileSync(new URL(`../samples/${name}.txt`, import.meta.url), 'utf8').replace(':49134', `:${port}`),
    async close() {
      await cell.close();
      rmSync(workspace, { recursive: true });
    },
  };
}

/** Runs to the end, or until the output contains `until`; killed at the deadline. */
export function run(command, args, { cwd, env = {}, until, deadlineMs }) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const deadline = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
    let stdout = '';
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      if (until !== undefined && stdout.includes(until)) child.kill('SIGKILL');
    });
    child.on('error', fail);
    child.on('close', (code) => {
      clearTimeout(deadline);
      done({ code, stdout, stderr });
    });
  });
}

/** Prints one line per check; exits with 1 if any failed. */
export function report(script, checks) {
  for (const { name, isOk, detail } of checks)
    console.log(`${script}  ${isOk ? 'ok  ' : 'FAIL'}  ${name}${detail ? `: ${detail}` : ''}`);
  process.exitCode = checks.length > 0 && checks.every(({ isOk }) => isOk) ? 0 : 1;
}
