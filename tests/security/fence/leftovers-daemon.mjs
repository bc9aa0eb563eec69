/**
 * Holds an image and has a cgroup in every parent, as a sandbox daemon does, until it is killed. Says `ready` then.
 *
 * Arguments: the cache of images, then the parents.
 */
import { CgroupDir } from '../../../dist/workers/sandbox/limits/cgroup-dir.js';
import { ImageStore } from '../../../dist/sandbox/images/image-store.js';

const [cache, ...parents] = process.argv.slice(2);
new ImageStore(cache).hold('sha256:00');
for (const parent of parents) CgroupDir.make(parent, 'one');
process.send('ready');
setInterval(() => {}, 60_000);
