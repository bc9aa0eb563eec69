/** The images of a configuration, for the worker and for the commands that look after the cache. */
import type { Log } from '#contract';
import type { SandboxConfig } from '../config.ts';
import { defaultCacheDir } from './cache-dir.ts';
import { Images } from './images.ts';

type ImageConfig = Pick<SandboxConfig, 'cache_dir' | 'custom_images' | 'image_allowlist' | 'auto_install'>;

export function openImages(config: ImageConfig, log: Log): Images {
  return new Images({
    cacheDir: config.cache_dir ?? defaultCacheDir(),
    customImages: config.custom_images,
    allowlist: config.image_allowlist,
    autoInstall: config.auto_install,
    log,
  });
}
