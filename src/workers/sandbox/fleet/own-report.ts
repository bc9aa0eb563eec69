/** The report of this machine about its sandboxes. */
import type { Fleet, SandboxReport } from '#contract';
import type { SandboxContext } from '../worker.ts';
import { imageMark } from './choose-host.ts';

/** Interval of listing cached images, which reads the disk. */
const LIST_IMAGES_EVERY_MS = 5_000;
const MOST_IMAGES = 32;

type Reported = Pick<SandboxContext, 'config' | 'sandboxes' | 'images' | 'backends'>;

/** Call the returned function to end it. */
export function offerSandboxes(context: Reported, fleet: Fleet): () => void {
  const { config, sandboxes, images, backends } = context;
  let marks: string[] = [];
  let listedAtMs = -Infinity;
  const cachedImages = (): string[] => {
    if (performance.now() - listedAtMs < LIST_IMAGES_EVERY_MS) return marks;
    listedAtMs = performance.now();
    const isOffered = (name: string | null) => name !== null && config.image_allowlist.includes(name);
    const cached = images.list().filter((row) => isOffered(row.name) && row.cached !== null);
    return (marks = cached.slice(0, MOST_IMAGES).map((row) => imageMark(row.name!)));
  };
  const report = (): SandboxReport => {
    const { starting } = sandboxes;
    const living = sandboxes.all.length;
    const max = config.max_concurrent_sandboxes;
    const backend = backends.chosen;
    return {
      ...{ places: Math.max(0, max - living - starting), starting, living, max },
      memory_free_mb: sandboxes.share.freeMb,
      ...(backend && { isolation: backend.isolation, backend: backend.rung }),
      images: cachedImages(),
    };
  };
  return fleet.offer(report);
}
