/** Options that several sandbox commands take, and the request fields they become. */
import { valueOption, type CommandInput, type OptionSpec } from '../command.ts';
import { text } from '../engine-address.ts';
import { readNumber, readPairs } from './sandbox-command.ts';

export const envOption: Record<string, OptionSpec> = {
  env: valueOption('NAME=VALUE', 'Set a variable; may be repeated.', { short: 'e', multiple: true }),
};

export const timeoutOption: Record<string, OptionSpec> = {
  timeout: valueOption('TIME', 'Kill it after this long, such as 30s or 5m; exits 124 then.'),
};

export const shapeOptions: Record<string, OptionSpec> = {
  cpus: valueOption('N', 'Processors.'),
  memory: valueOption('MIB', 'Memory in MiB.'),
  disk: valueOption('MIB', 'Disk size in MiB.'),
  network: { type: 'boolean', description: 'Give it network access, as far as the operator allows.' },
  allow: valueOption('HOST[:PORT]', 'Allow only these hosts, within what the operator allows; may be repeated.', {
    multiple: true,
  }),
  deny: valueOption('HOST[:PORT]', 'Deny this host; may be repeated.', { multiple: true }),
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
