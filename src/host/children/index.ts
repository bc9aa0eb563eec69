/** Every child process: started, watched, capped, and gone with everything it started. */
export { Children } from './children.ts';
export type { ChildSpec } from './child.ts';
export type { Containment } from './rung.ts';
export { SpawnError } from './spawn-error.ts';
