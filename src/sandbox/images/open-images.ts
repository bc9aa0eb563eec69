/** Opens the images of a configuration, for the worker and for the commands that manage the cache. */
import type { Log } from '#contract';
import { defaultCacheDir } from './cache-dir.ts';
import { Images } from './images.ts';

/** Keys of the iii-sandbox block. */
interface ImageConfig {
  cache_dir: string | null;
  custom_images: Record<string, string>;
  image_allowlist: string[];
  auto_install: boolean;
}

export function openImages(config: ImageConfig, log: Log): Images {
  return new Images({
    cacheDir: config.cache_dir ?? defaultCacheDir(),
    customImages: config.custom_images,
    allowlist: config.image_allowlist,
    autoInstall: config.auto_install,
    log,
  });
}
