/** Fetches or builds the allowed images, so that the first sandbox does not wait for one. */
import { silentLog } from '#contract';
import { ImageError, openImages, type SandboxConfig } from '#workers/sandbox';
import { showProgress } from '../sandbox/image-cache.ts';
import { clearLine } from '../live-line.ts';
import type { SetupOptions } from './set-up-backend.ts';

/** Returns whether all of them are cached now. */
export async function makeImagesReady(
  config: SandboxConfig,
  { isDryRun, signal, say }: Pick<SetupOptions, 'isDryRun' | 'signal' | 'say'>,
): Promise<boolean> {
  const images = openImages(config, silentLog);
  let areReady = true;
  for (const name of config.image_allowlist) {
    if (await images.isCached(name)) say(`image ${name}: is here`);
    else if (isDryRun) say(`image ${name}: would be fetched or built`);
    else if (!(await makeReady(name))) areReady = false;
  }
  return areReady;

  async function makeReady(name: string): Promise<boolean> {
    try {
      await images.prepare(name, { signal, onProgress: showProgress }).finally(clearLine);
      say(`image ${name}: is ready`);
      return true;
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      say(`image ${name}: ${error.problem}`);
      return false;
    }
  }
}
