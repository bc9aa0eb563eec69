/** Reports the decision of the shell configuration about a command, without running it. */
import { Failure } from '#contract';
import { toArgv } from '../argv.ts';
import type { ShellConfig } from '../config.ts';
import { isFenced } from '../fenced-command.ts';
import { execRequest } from '../exec-request.ts';
import { CommandPolicy } from './command-policy.ts';

export interface CommandCheck {
  readonly verdict: 'allow' | 'deny';
  /** The key that decided, with its words. */
  readonly rule: string;
  readonly change: string;
}

const SYSTEM_PATH = '/bin:/usr/bin';

const Request = execRequest('ExecRequest', {});

/** Undefined for a request that the function would refuse as invalid. */
export async function explainCommand(config: ShellConfig, payload: unknown): Promise<CommandCheck | undefined> {
  const fence = { isAlways: config.fence !== 'off', isLayered: config.fence === 'change' };
  try {
    const request = Request.safeParse(payload);
    if (!request.success) return undefined;
    if (isFenced(request.data, { fence: { ...fence, around: undefined as never } })) return fenced(config);
    const target = { kind: 'host' as const, path: process.env.PATH ?? SYSTEM_PATH, cwd: config.fs.host_root ?? '/' };
    await new CommandPolicy(config).admit(toArgv(request.data), target);
    return {
      verdict: 'allow',
      rule:
        config.allowlist.length === 0
          ? 'shell.allowlist: empty, every program may run'
          : 'shell.allowlist and shell.rules',
      change: 'remove the program from shell.allowlist, or add a deny rule to shell.rules',
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { verdict: 'deny', rule: `${keyOf(error.message)}: ${error.message}`, change: adviceFor(error.message) };
  }
}

function fenced({ fence, fence_network: network }: ShellConfig): CommandCheck {
  const source = fence === 'off' ? 'the fence of the call' : `shell.fence: ${fence}`;
  return {
    verdict: 'allow',
    rule: `${source}: any program runs inside the fence, network ${network}; allowlist and rules do not apply`,
    change: 'set shell.fence to off: then shell.allowlist, shell.denylist_patterns and shell.rules decide',
  };
}

function keyOf(message: string): string {
  if (message.includes('allowlist')) return 'shell.allowlist';
  if (message.includes('denylist')) return 'shell.denylist_patterns';
  return message.includes('rule') ? 'shell.rules' : 'shell';
}

function adviceFor(message: string): string {
  const key = keyOf(message);
  if (key === 'shell.allowlist') return 'add the program to shell.allowlist, or set shell.fence to workspace';
  return `change ${key}, or set shell.fence to workspace`;
}
