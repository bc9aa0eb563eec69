/** Helpers for tests. Never imported by the product, never published. */
export { agentCell, type AgentCell } from './agent-cell.ts';
export { changeCell, type ChangeCell } from './change-cell.ts';
export { fakeBackend, no, yes, type FakeBackend } from './fake-backend.ts';
export { filesystemCases, treeOf, type ActionReply } from './filesystem-cases.ts';
export { jailModes } from './jail-modes.ts';
export { modesAndContents } from './modes-and-contents.ts';
export { ociImage, type TestImage } from './images/oci-image.ts';
export { NOBODY_UID } from './basics/ordinary-user.ts';
export { failureOf, insert, remove, replace, updateCases, updateLines } from './batch-files.ts';
export { filesBelow, patchCases } from './patch-cases.ts';
export { isFull, rounds } from './rounds.ts';
export { run, strictReply } from './run.ts';
export {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  sandboxConfig,
  serveSandboxes,
  SLOWNESS,
  TEST_BACKEND,
  TEST_ISOLATIONS,
  whyNoSandbox,
  type SandboxCases,
} from './sandbox-cases.ts';
export { serveWorker, type ServedWorker } from './serve-worker.ts';
export { shellCases } from './shell-cases.ts';
export { mayMount, mount, smallDisk } from './small-disk.ts';
export { startEngine, type TestEngine } from './start-engine.ts';
export { tarArchive, type TestEntry } from './images/tar-archive.ts';
export { tempDir, type TempDir, type TempEntries } from './temp-dir.ts';
export { startRegistry, type BlobFault } from './images/test-registry.ts';
export { watchTurns } from './watch-turns.ts';
export { withEnoughTime } from './with-enough-time.ts';
export { guestRoot, whyNoGuestRoot } from './images/guest-root.ts';
export { copyPrograms } from './images/shared-programs.ts';
export { machineCache, qemuCache, whyNoQemu } from './qemu.ts';
export { mcpClient, tester, type WhoReply } from './tester.ts';
export { parsePrometheus } from './prometheus.ts';
