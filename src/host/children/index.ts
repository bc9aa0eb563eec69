/** Child processes: start them, watch them, cap their output, end them with everything they started. */
export { Children } from './children.ts';
export type { ChildSpec, Launch } from './child.ts';
export type { Containment } from './containments/containment.ts';
export { SpawnError } from './spawn-error.ts';
