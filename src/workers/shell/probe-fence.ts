/** Whether the fence can be built here, by building it and running a command in it. */
import { silentLog, type Log } from '#contract';
import { Fence, FenceError } from '#fence';
import { configSchema } from './config.ts';

/** The reason if it cannot, with advice; undefined if it can. `workspace` is canonical. */
export async function probeFence(workspace: string, log: Log = silentLog): Promise<string | undefined> {
  const { fence_egress: egress, fence_paths: paths } = configSchema.parse({});
  const fence = new Fence({ workspace, protect: [], network: 'loopback', egress, paths, log });
  try {
    await fence.open();
    return undefined;
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    return error.message;
  } finally {
    await fence.close();
  }
}
