/**
 * Builds the access rules of a configuration, over the functions of this build and the tokens of the state directory.
 */
import { Access, accessConfig, TokenFile, type AccessConfig } from '#access';
import { announce, type CalledFunction, type Log } from '#contract';
import { availableWorkers } from './workers.ts';

/** The access rules of a configuration without the key `access`. */
export const shippedAccess: AccessConfig = accessConfig.parse({});

export interface AccessSurroundings {
  workspace: string;
  stateDir: string;
  env?: NodeJS.ProcessEnv;
  /** Logs a damaged token list instead of throwing, and keeps the former tokens. */
  log?: Log;
}

export function openAccess(config: AccessConfig, { workspace, stateDir, env, log }: AccessSurroundings): Access {
  const onDamaged = log && (({ message }: Error) => log.error('kept the former tokens', { why: message }));
  const tokenFile = new TokenFile(stateDir, { onDamaged });
  return new Access({ config, workspace, find: shippedFunction, tokenFile, env });
}

/** A function of this build, as its worker will announce it. */
export function shippedFunction(id: string): CalledFunction | undefined {
  for (const worker of availableWorkers) {
    const fn = worker.functions.find((one) => one.id === id);
    if (fn) return { id, namespace: 'default', metadata: announce(worker, fn).metadata };
  }
  return undefined;
}
