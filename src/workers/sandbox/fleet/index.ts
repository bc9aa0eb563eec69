/** The sandbox worker in a cluster: the machine's own part, and the functions that callers of every node see. */
import type { AnyWorker, Fleet, FunctionDef } from '#contract';
import { BACKENDS } from '../backends/list.ts';
import { openSandboxes, type SandboxContext } from '../worker.ts';
import { fleetWorkerOf } from './fleet-worker.ts';
import { exportImage, importImage } from './images.ts';

type SandboxWorker = AnyWorker & { functions: readonly FunctionDef<SandboxContext>[] };

/**
 * The worker of one node, called by the node's name: its ids begin with the node's id, and a draining node creates no
 * sandboxes.
 */
function hostOf(worker: SandboxWorker, fleet: Fleet): AnyWorker {
  return {
    ...worker,
    functions: [...worker.functions, exportImage, importImage],
    open: (config, log) => openSandboxes(config as Parameters<typeof openSandboxes>[0], log, BACKENDS, fleet),
  };
}

export function onFleet(worker: SandboxWorker, fleet: Fleet): { host: AnyWorker; front: AnyWorker } {
  return { host: hostOf(worker, fleet), front: fleetWorkerOf(worker, fleet) };
}
