/**
 * Prints the name of the backend that makes the strongest sandboxes here: `npm test` runs the cases of sandboxes on that one.
 *
 * A backend works if a machine of it started; the build in `dist` probes that as for a user. If none works, prints the
 * default one, whose tests report why they are skipped.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { silentLog } from '../dist/contract/index.js';
import { sandbox } from '../dist/workers/sandbox/index.js';
import { defaultBackend } from './backends.mjs';

/** Where src/testing/qemu.ts has its kernel too. */
const cacheDir = fileURLToPath(new URL('../node_modules/.cache/workcell-qemu', import.meta.url));
const config = { cache_dir: cacheDir, allow_weak_isolation: true, prepare_images: false, min_idle: 0 };

// Made here, or only root could read the files that the tests share.
mkdirSync(`${cacheDir}/kernels`, { recursive: true });
const context = await sandbox.open(sandbox.config.parse(config), silentLog);
try {
  const { backend } = await context.backends.choose(AbortSignal.timeout(60_000));
  console.log(backend.name);
} catch {
  console.log(defaultBackend);
} finally {
  await sandbox.close(context);
}
