/** Options that several sandbox commands take, and the fields of a request they become. */
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
  disk: { type: 'string', value: 'MIB', description: 'What it may write, in MiB.' },
  network: { type: 'boolean', description: 'Let it reach what egress allows.' },
  ...envOption,
};

export function shapeOf(options: CommandInput['options']): Record<string, unknown> {
  return {
    cpus: readNumber(text(options.cpus), '--cpus'),
    memory_mb: readNumber(text(options.memory), '--memory'),
    disk_mb: readNumber(text(options.disk), '--disk'),
    network: options.network === true ? true : undefined,
    env: readPairs(options.env),
  };
}
