/** The command of a request: the fields that sandbox::exec and sandbox::exec_bg share, and how they are read. */
import { z } from 'zod';

import type { CallScope } from '#contract';
import { refuseShellLine, toArgv } from './command.ts';
import { EnvShape, readEnv, type Env } from '../environment.ts';
import { parseSandboxId } from '../live/sandbox-id.ts';

export const commandFields = {
  sandbox_id: z.string().describe('From sandbox::create.'),
  cmd: z.string().default('').describe('The program, or a whole line without args and argv.'),
  args: z.array(z.string()).default([]).describe('Arguments of cmd, taken as they are.'),
  argv: z.array(z.string()).default([]).describe('Program and arguments in one list, instead of cmd and args.'),
  stdin: z.string().nullable().default(null).describe('Standard input, in base64. Default empty.'),
  env: EnvShape.optional().describe('On top of the environment of the sandbox: ["K=V"] or {"K": "V"}.'),
  workdir: z.string().nullable().default(null).describe('Working directory. Default: the WORKDIR of the image, or /.'),
};

const Fields = z.object(commandFields);

export interface WantedCommand {
  argv: string[];
  env: Env;
  stdin: string | null;
  workdir: string | null;
}

/** Refuses commands that no sandbox can run. */
export function readCommand(request: z.output<typeof Fields>, { door }: Pick<CallScope, 'door'>): WantedCommand {
  parseSandboxId(request.sandbox_id);
  const argv = toArgv(request);
  if (door) refuseShellLine(request);
  const { stdin, workdir } = request;
  return { argv, env: readEnv(request.env), stdin, workdir };
}
