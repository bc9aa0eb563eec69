/** A boundary of the kernel around commands of this host: it limits files, processes, sockets and the network. */
export { Fence } from './fence.ts';
export { FenceError } from './fence-error.ts';
export { launchInLayer } from './launch-in-layer.ts';
export { mountLayer } from './mount-layer.ts';
export { PUBLIC_REGISTRIES } from './registries.ts';
