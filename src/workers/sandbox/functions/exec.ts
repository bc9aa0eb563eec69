/** sandbox::exec: runs one command in a sandbox and waits for it. */
import { z } from 'zod';

import { wire } from '#contract';
import { EnvShape, readEnv } from '../environment.ts';
import { refuseShellLine, toArgv } from '../command.ts';
import { execute, replyFields } from '../execute.ts';
import { parseSandboxId } from '../live/sandbox-id.ts';
import { LONG_CALL_MS } from '../long-deadline.ts';
import { sandbox } from '../worker.ts';

export const exec = sandbox.defineFunction({
  id: 'sandbox::exec',
  summary: 'Run a command in a sandbox and return its output and exit code.',
  details:
    'Three shapes: cmd as a line ("node -v", split at blanks, quotes as in a shell, nothing expanded), cmd with args, or ' +
    'argv. For pipes and variables run ["sh", "-c", "…"]. The reply comes when the command itself ends; what it started in ' +
    'the background goes on.',
  effect: 'execute',
  permissions: ['sandbox.run'],
  request: z
    .object({
      sandbox_id: z.string().describe('From sandbox::create.'),
      cmd: z.string().default('').describe('The program, or a whole line when args and argv are left out.'),
      args: z.array(z.string()).default([]).describe('Arguments of cmd, taken as they are.'),
      argv: z.array(z.string()).default([]).describe('Program and arguments in one list, instead of cmd and args.'),
      stdin: z.string().nullable().default(null).describe('Standard input, in base64; empty when left out.'),
      env: EnvShape.optional().describe('On top of the environment of the sandbox: ["K=V"] or {"K": "V"}.'),
      timeout_ms: wire
        .uint64()
        .nullable()
        .default(null)
        .describe('Timeout in milliseconds; then the command is killed and the call fails with S200. Default 300000.'),
      workdir: z
        .string()
        .nullable()
        .default(null)
        .describe('Working directory; the WORKDIR of the image, or /, when left out.'),
    })
    .meta({ title: 'ExecRequest' }),
  response: z.object(replyFields).meta({ title: 'ExecResponse' }),
  errors: ['S001', 'S002', 'S003', 'S004', 'S200', 'S300'],
  examples: [],
  deadlineMs: LONG_CALL_MS,

  async handle(request, { config, sandboxes }, scope) {
    parseSandboxId(request.sandbox_id);
    const argv = toArgv(request);
    if (scope.door) refuseShellLine(request);
    const env = readEnv(request.env);
    const { stdin, timeout_ms: timeoutMs, workdir } = request;
    return execute(sandboxes.find(request.sandbox_id), { argv, env, stdin, timeoutMs, workdir }, config, scope);
  },
});
