/** Options that several sandbox commands take, and the request fields they become. */
import type { CommandInput, OptionSpec } from './command.ts';
import { text } from './engine-address.ts';
import { readNumber, readPairs } from './sandbox-command.ts';

export const envOption: Record<string, OptionSpec> = {
  env: {
    type: 'string',
    short: 'e',
    value: 'NAME=VALUE',
    description: 'Set a variable; may be repeated.',
    multiple: true,
  },
};

export const timeoutOption: Record<string, OptionSpec> = {
  timeout: {
    type: 'string',
    value: 'TIME',
    description: 'Kill it after this long, such as 30s or 5m; exits 124 then.',
  },
};

export const shapeOptions: Record<string, OptionSpec> = {
  cpus: { type: 'string', value: 'N', description: 'Processors.' },
  memory: { type: 'string', value: 'MIB', description: 'Memory in MiB.' },
  disk: { type: 'string', value: 'MIB', description: 'Disk size in MiB.' },
  network: { type: 'boolean', description: 'Give it network access, as far as the operator allows.' },
  allow: {
    type: 'string',
    value: 'HOST[:PORT]',
    description: 'Allow only these hosts, within what the operator allows; may be repeated.',
    multiple: true,
  },
  deny: { type: 'string', value: 'HOST[:PORT]', description: 'Deny this host; may be repeated.', multiple: true },
  ...envOption,
};

/** `--allow` or `--deny` implies a network. */
function networkOf({ network, allow, deny }: CommandInput['options']): Record<string, unknown> {
  const egress = { allow: Array.isArray(allow) ? allow : undefined, deny: Array.isArray(deny) ? deny : undefined };
  if (egress.allow || egress.deny) return { network: true, egress };
  return { network: network === true ? true : undefined };
}

export function shapeOf(options: CommandInput['options']): Record<string, unknown> {
  return {
    cpus: readNumber(text(options.cpus), '--cpus'),
    memory_mb: readNumber(text(options.memory), '--memory'),
    disk_mb: readNumber(text(options.disk), '--disk'),
    ...networkOf(options),
    env: readPairs(options.env),
  };
}
