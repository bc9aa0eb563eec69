/**
 * What `compat:python` and `compat:rust` share: our engine as it is built, something to call on it, and a way to
 * run a program with a deadline.
 *
 * The coder worker is ours and works on a directory of its own; `shell::exec` is a stand-in made with the Node SDK.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SHELL_RESULT = { stdout: 'hello\n', stderr: '', exit_code: 0 };

export async function serveForPrograms() {
  process.env.OTEL_ENABLED = 'false';
  const { Engine, startServer } = await import('../../../dist/engine/index.js');
  const { connect } = await import('../../../dist/client/index.js');
  const { parseConfig, silentLog } = await import('../../../dist/contract/index.js');
  const { coder } = await import('../../../dist/workers/coder/index.js');
  const { registerWorker } = await import('iii-sdk');

  const engine = new Engine();
  const server = await startServer(engine, { host: '127.0.0.1', port: 0 });
  const workspace = mkdtempSync(join(tmpdir(), 'workcell-compat-workspace-'));
  const context = await coder.open(parseConfig(coder.config, { base_path: workspace }, 'coder'), silentLog);
  const connection = await connect(engine.dialer(), { name: 'coder' });
  connection.serve({ def: coder, context });
  const standIn = registerWorker(server.url, { workerName: 'shell', enableMetricsReporting: false });
  standIn.registerFunction('shell::exec', async () => SHELL_RESULT);
  const { functions } = await standIn.trigger({ function_id: 'engine::functions::list', payload: {} });

  return {
    port: server.port,
    workspace,
    functionIds: functions.map(({ function_id }) => function_id),
    async close() {
      await standIn.shutdown();
      connection.close();
      await coder.close(context);
      await server.close();
      rmSync(workspace, { recursive: true });
    },
  };
}

/** Runs to the end, or until `until` stands in the output; either way it is over by the deadline. */
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

/** One line for each check; the exit code says whether all were right. */
export function report(script, checks) {
  for (const { name, isOk, detail } of checks)
    console.log(`${script}  ${isOk ? 'ok  ' : 'FAIL'}  ${name}${detail ? `: ${detail}` : ''}`);
  process.exitCode = checks.length > 0 && checks.every(({ isOk }) => isOk) ? 0 : 1;
}
