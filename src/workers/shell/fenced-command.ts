/**
 * A command inside the fence: any program, any variable, and a script for a shell.
 *
 * The fence is the boundary, so neither the allowlist nor the rules apply. Variables such as LD_PRELOAD and PATH act on
 * programs inside only.
 */
import type { Launch } from '#host';
import { toArgv, type Argv } from './argv.ts';
import type { Environment } from './child-env.ts';
import { errors } from './errors.ts';
import type { ExecRequest } from './exec-request.ts';
import type { ShellContext } from './worker.ts';

/** Whether the command runs inside; refuses a fence that the operator or the target does not allow. */
export function isFenced(request: ExecRequest, { fence }: Pick<ShellContext, 'fence'>): boolean {
  const { script, target } = request;
  if (target.kind === 'sandbox') {
    const stray = (['script', 'fence'] as const).find((field) => request[field] != null);
    if (stray) throw errors.fail('S210', { problem: `'${stray}' is for host targets only` });
    return false;
  }
  if ((fence.isAlways && request.fence === 'off') || (fence.isLayered && request.fence === 'workspace')) {
    throw errors.fail('S210', {
      problem: `fence: "${request.fence}" is less strict than shell.fence of the operator; leave it out`,
    });
  }
  const isInside = fence.isAlways || (request.fence != null && request.fence !== 'off');
  if (script != null && !isInside) {
    throw errors.fail('S210', {
      problem:
        'script runs only inside the fence: send fence: "workspace" with it, or put the program in `command` and its arguments in `args`',
    });
  }
  return isInside;
}

export interface Inside {
  readonly argv: Argv;
  readonly env: Environment;
  readonly launch: Launch;
}

/** Rejects with a `FenceError` where the fence cannot be built. */
export async function insideFence(request: ExecRequest, { fence, environment }: ShellContext): Promise<Inside> {
  const argv = fencedArgv(request);
  const variables = request.env ?? {};
  const bad = Object.entries(variables).find(([name, value]) => !/^[^=\0]+$/.test(name) || value.includes('\0'));
  if (bad) {
    throw errors.fail('S210', { problem: `env: ${JSON.stringify(bad[0])} is not a variable that a program can get` });
  }
  const env = { ...environment, ...(await fence.around.environment()), ...variables };
  return { argv, env, launch: await fence.around.launch() };
}

/** The words of a command inside. */
export function fencedArgv({ command, args, script }: Pick<ExecRequest, 'command' | 'args' | 'script'>): Argv {
  if (script == null) return toArgv({ command, args });
  const stray = command !== '' ? 'command' : args === null ? undefined : 'args';
  if (stray) throw errors.fail('S210', { problem: `script takes the place of \`${stray}\`: send one of them` });
  return toArgv({ command: '/bin/sh', args: ['-c', script] });
}
