/**
 * All commands, in the order of the help.
 *
 * A command is imported on use: those that only call an engine need a quarter of what all of them import.
 */
import type { Command } from '../command.ts';

const loaders = new Map<string, () => Promise<Command>>([
  ['start', async () => (await import('./start.ts')).start],
  ['mcp', async () => (await import('./mcp.ts')).mcp],
  ['call', async () => (await import('./call.ts')).call],
  ['functions', async () => (await import('./functions.ts')).functions],
  ['exec', async () => (await import('./exec.ts')).exec],
  ['log', async () => (await import('./log.ts')).log],
  ['undo', async () => (await import('./undo.ts')).undo],
  ['jobs list', async () => (await import('./jobs/list.ts')).jobsList],
  ['jobs status', async () => (await import('./jobs/status.ts')).jobsStatus],
  ['jobs logs', async () => (await import('./jobs/logs.ts')).jobsLogs],
  ['jobs attach', async () => (await import('./jobs/attach.ts')).jobsAttach],
  ['jobs kill', async () => (await import('./jobs/kill.ts')).jobsKill],
  ['sandbox run', async () => (await import('./sandbox/run.ts')).sandboxRun],
  ['sandbox create', async () => (await import('./sandbox/create.ts')).sandboxCreate],
  ['sandbox exec', async () => (await import('./sandbox/exec.ts')).sandboxExec],
  ['sandbox shell', async () => (await import('./sandbox/shell.ts')).sandboxShell],
  ['sandbox jobs', async () => (await import('./sandbox/jobs.ts')).sandboxJobs],
  ['sandbox list', async () => (await import('./sandbox/list.ts')).sandboxList],
  ['sandbox stop', async () => (await import('./sandbox/stop.ts')).sandboxStop],
  ['sandbox upload', async () => (await import('./sandbox/upload.ts')).sandboxUpload],
  ['sandbox download', async () => (await import('./sandbox/download.ts')).sandboxDownload],
  ['sandbox images', async () => (await import('./sandbox/images.ts')).sandboxImages],
  ['sandbox pull', async () => (await import('./sandbox/pull.ts')).sandboxPull],
  ['sandbox import', async () => (await import('./sandbox/import.ts')).sandboxImport],
  ['sandbox prune', async () => (await import('./sandbox/prune.ts')).sandboxPrune],
  ['worker run', async () => (await import('./worker-run.ts')).workerRun],
  ['worker add', async () => (await import('./worker-add.ts')).workerAdd],
  ['config print', async () => (await import('./config-print.ts')).configPrint],
  ['doctor', async () => (await import('./doctor.ts')).doctor],
  ['setup', async () => (await import('./setup.ts')).setup],
]);

export const commandNames: readonly string[] = [...loaders.keys()];

export async function commandNamed(name: string): Promise<Command | undefined> {
  return loaders.get(name)?.();
}

/** For the help and for finding a command by its other name. */
export function allCommands(): Promise<Command[]> {
  return Promise.all([...loaders.values()].map((load) => load()));
}
