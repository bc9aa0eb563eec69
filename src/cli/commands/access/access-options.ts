/**
 * The access rules that commands of the operator read: of the configuration and the state directory, as `start` would.
 */
import { resolve } from 'node:path';

import type { Access } from '#access';
import { findConfigFile, openAccess, parseAccess, parseCell, readConfigFile, shippedAccess } from '#assembly';
import { shippedCell } from '#contract';
import { stateDirOf } from '#host';
import { valueOption, type CommandInput, type OptionSpec } from '../../command.ts';
import { text } from '../../engine-address.ts';

export const accessOptions: Record<string, OptionSpec> = {
  config: valueOption('FILE', 'Configuration file, as for start.', { short: 'c' }),
};

export interface OperatorAccess {
  readonly access: Access;
  readonly stateDir: string;
}

export function readAccess(options: CommandInput['options']): OperatorAccess {
  const file = findConfigFile(text(options.config));
  const given = file === undefined ? undefined : readConfigFile(file);
  const stateDir = stateDirOf(given === undefined ? shippedCell : parseCell(given));
  const workspace = resolve(text(options.workspace) ?? process.cwd());
  const config = given === undefined ? shippedAccess : parseAccess(given);
  return { access: openAccess(config, { workspace, stateDir }), stateDir };
}
