/** The parts of the sandbox worker that are measured, as the build made them. */
const area = '../../../dist/workers/sandbox';
const parts = '../../../dist/sandbox';

export const { namespacesBackend } = await import(`${area}/backends/namespaces/namespaces-backend.js`);
export const { gvisorBackend } = await import(`${area}/backends/gvisor/gvisor-backend.js`);
export const { QemuBackend } = await import(`${area}/backends/qemu/qemu-backend.js`);
export const { WarmPool } = await import(`${area}/backends/warm-pool.js`);
export const { AgentClient } = await import(`${parts}/guest/agent-client.js`);
export const { GuestFiles } = await import(`${parts}/guest/guest-files.js`);

const { openImages } = await import(`${parts}/images/index.js`);
const { silentLog } = await import('#contract');

/** The images of the user running the benchmark; the folder of the cache may be given in the environment. */
export function imagesHere() {
  const { WORKCELL_IMAGE_CACHE: cacheDir = null } = process.env;
  const config = { cache_dir: cacheDir, custom_images: {}, image_allowlist: ['python'], auto_install: false };
  return openImages(config, silentLog);
}
