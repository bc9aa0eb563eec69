/** The guest of a sandbox: the agent in it (C), its protocol, and the host's end of it. */
export { AgentClient, type ExecSpec } from './agent-client.ts';
export { buildAgent, MOUNT_SOURCES } from './build-agent.ts';
export { buildProgram, sourcePath } from './c-program.ts';
export { frameHeader, FrameReader, MAX_FRAME_BYTES, OP, PROTOCOL_VERSION, WINDOW_BYTES } from './frames.ts';
export { AgentTooOld, GuestError, GuestLost } from './guest-error.ts';
export { guestFileSystem } from './guest-file-system.ts';
export { GuestFiles } from './guest-files.ts';
export { ALL_OUTPUT, type GuestCommand, type GuestProcess } from './guest-process.ts';
export { RequestBytes } from './request-bytes.ts';
export { seccompFilter } from './seccomp.ts';
