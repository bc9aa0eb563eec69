/** The catalogue of all workers of this build, from a real engine. */
import { connect } from '#client';
import { readCatalogue, type CatalogueEntry } from '#contract';
import { Engine } from '#engine';
import { availableWorkers } from '../../src/assembly/workers.ts';

export async function publishedCatalogue(): Promise<CatalogueEntry[]> {
  const engine = new Engine();
  try {
    for (const def of availableWorkers) {
      const worker = await connect(engine.dialer(), { name: def.name });
      worker.serve({ def, context: undefined });
    }
    const bus = await connect(engine.dialer());
    return await readCatalogue(bus);
  } finally {
    engine.close();
  }
}
