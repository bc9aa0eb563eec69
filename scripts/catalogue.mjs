/** The functions of the built workers, as an engine lists them to any client. */
import { connect } from '../dist/client/index.js';
import { availableWorkers } from '../dist/assembly/workers.js';
import { readCatalogue } from '../dist/contract/index.js';
import { Engine } from '../dist/engine/index.js';

export async function catalogue(options) {
  const engine = new Engine();
  const bus = await connect(engine.dialer());
  for (const def of availableWorkers) {
    const worker = await connect(engine.dialer(), { name: def.name, isolation: 'in-process' });
    worker.serve({ def, context: undefined });
  }
  const entries = await readCatalogue(bus, options);
  engine.close();
  return entries;
}
