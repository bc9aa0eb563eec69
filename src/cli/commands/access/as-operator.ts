/** Calls an engine of this machine with the operator's key, which proves that a person makes the call. */
import { operatorKeyIn } from '#assembly';
import type { Connection } from '#client';
import type { CommandInput } from '../../command.ts';
import { withEngine } from '../../engine-address.ts';
import { readAccess } from './access-options.ts';

export function asOperator<T>(options: CommandInput['options'], use: (bus: Connection) => Promise<T>): Promise<T> {
  return withEngine(options, use, operatorKeyIn(readAccess(options).stateDir));
}
