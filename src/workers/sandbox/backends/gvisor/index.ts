/** Sandboxes of gVisor: a kernel of their own, in a program. */
export { GvisorBackend } from './gvisor-backend.ts';
