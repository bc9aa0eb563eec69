/** Builds the access rules of a configuration, over the functions of this build and the tokens of the state directory. */
import { Access, accessConfig, TokenFile, type AccessConfig } from '#access';
import { announce, type CalledFunction } from '#contract';
import { availableWorkers } from './workers.ts';

/** Access that a configuration without the key has. */
export const shippedAccess: AccessConfig = accessConfig.parse({});

export interface AccessSurroundings {
  workspace: string;
  stateDir: string;
  env?: NodeJS.ProcessEnv;
}

export function openAccess(config: AccessConfig, { workspace, stateDir, env }: AccessSurroundings): Access {
  return new Access({ config, workspace, find: shippedFunction, tokenFile: new TokenFile(stateDir), env });
}

/** A function of this build, as its worker will announce it. */
export function shippedFunction(id: string): CalledFunction | undefined {
  for (const worker of availableWorkers) {
    const fn = worker.functions.find((one) => one.id === id);
    if (fn) return { id, namespace: 'default', metadata: announce(worker, fn).metadata };
  }
  return undefined;
}
