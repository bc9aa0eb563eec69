/** Whether changes can be made here, by beginning one over a directory of its own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { mountLayer } from '#fence';
import { LayerError, Layers } from '#host';

/** What changes are made of, or the reason why there are none. `place` is a directory in which it can work. */
export async function probeChanges(place: string): Promise<{ rung: string } | { problem: string }> {
  const root = mkdtempSync(join(realpathSync(place), 'workcell-changes-'));
  for (const name of ['workspace', 'state']) mkdirSync(join(root, name));
  const limits = { maxOpen: 1, maxBytes: Infinity, idleMs: Infinity };
  const layers = new Layers(join(root, 'workspace'), { stateDir: join(root, 'state'), limits, mount: mountLayer });
  try {
    const { rung } = await layers.begin({ outside: 'as-is', network: 'host', note: '' });
    return { rung };
  } catch (error) {
    if (!(error instanceof LayerError)) throw error;
    return { problem: error.message };
  } finally {
    await layers.close();
    rmSync(root, { recursive: true, force: true });
  }
}
