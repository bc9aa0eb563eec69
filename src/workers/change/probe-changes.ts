/** Whether changes can be made here, by beginning one over a directory of its own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { mountLayer } from '#fence';
import { LayerError, Layers } from '#host';

/** Mount kind that changes use, or the reason why they are unavailable. `directory` is a directory to try it in. */
export async function probeChanges(directory: string): Promise<{ mount: string } | { problem: string }> {
  const root = mkdtempSync(join(realpathSync(directory), 'workcell-changes-'));
  for (const name of ['workspace', 'state']) mkdirSync(join(root, name));
  const limits = { maxOpen: 1, maxBytes: Infinity, idleMs: Infinity };
  const layers = new Layers(join(root, 'workspace'), { stateDir: join(root, 'state'), limits, mount: mountLayer });
  try {
    const { mount } = await layers.begin({ outside: 'as-is', network: 'host', note: '' });
    return { mount };
  } catch (error) {
    if (!(error instanceof LayerError)) throw error;
    return { problem: error.message };
  } finally {
    await layers.close();
    rmSync(root, { recursive: true, force: true });
  }
}
