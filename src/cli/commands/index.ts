/**
 * All commands, in the order of the help, and their other names.
 *
 * A command is imported on use: those that only call an engine need a quarter of all imports. Other names
 * are here and not in the definitions, so that finding one imports nothing else.
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
  ['change begin', async () => (await import('./change/begin.ts')).changeBegin],
  ['change list', async () => (await import('./change/list.ts')).changeList],
  ['change diff', async () => (await import('./change/diff.ts')).changeDiff],
  ['change commit', async () => (await import('./change/commit.ts')).changeCommit],
  ['change approve', async () => (await import('./change/approve.ts')).changeApprove],
  ['change discard', async () => (await import('./change/discard.ts')).changeDiscard],
  ['ps', async () => (await import('./running/ps.ts')).ps],
  ['status', async () => (await import('./running/status.ts')).status],
  ['stop', async () => (await import('./running/stop.ts')).stop],
  ['nodes', async () => (await import('./cluster/nodes.ts')).nodes],
  ['nodes drain', async () => (await import('./cluster/nodes-drain.ts')).nodesDrain],
  ['nodes resume', async () => (await import('./cluster/nodes-drain.ts')).nodesResume],
  ['cluster config', async () => (await import('./cluster/config.ts')).clusterConfig],
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
  ['approvals list', async () => (await import('./access/approvals-list.ts')).approvalsList],
  ['approvals approve', async () => (await import('./access/approvals-answer.ts')).approvalsApprove],
  ['approvals deny', async () => (await import('./access/approvals-answer.ts')).approvalsDeny],
  ['approvals key', async () => (await import('./access/approvals-key.ts')).approvalsKey],
  ['token add', async () => (await import('./access/token-add.ts')).tokenAdd],
  ['token list', async () => (await import('./access/token-list.ts')).tokenList],
  ['token remove', async () => (await import('./access/token-remove.ts')).tokenRemove],
  ['policy explain', async () => (await import('./access/policy-explain.ts')).policyExplain],
  ['audit tail', async () => (await import('./access/audit-tail.ts')).auditTail],
  ['audit show', async () => (await import('./access/audit-show.ts')).auditShow],
  ['audit verify', async () => (await import('./access/audit-verify.ts')).auditVerify],
  ['worker run', async () => (await import('./worker-run.ts')).workerRun],
  ['worker add', async () => (await import('./worker-add.ts')).workerAdd],
  ['config print', async () => (await import('./config-print.ts')).configPrint],
  ['doctor', async () => (await import('./doctor.ts')).doctor],
  ['setup', async () => (await import('./setup.ts')).setup],
  ['completion', async () => (await import('../completion/command.ts')).completion],
]);

/** The sandbox commands also have the names that they have in iii. */
const FROM_III = [...loaders.keys()]
  .filter((name) => name.startsWith('sandbox '))
  .map((name) => [`worker ${name}`, name] as const);

/** Command names by their aliases. */
const ALIASES = new Map<string, string>([
  ['trigger', 'call'],
  ['logs', 'jobs logs'],
  ['change ls', 'change list'],
  ['jobs ls', 'jobs list'],
  ['jobs ps', 'jobs list'],
  ['jobs stop', 'jobs kill'],
  ['sandbox ls', 'sandbox list'],
  ['sandbox ps', 'sandbox list'],
  ['sandbox rm', 'sandbox stop'],
  ['sandbox kill', 'sandbox stop'],
  ['approvals', 'approvals list'],
  ['token ls', 'token list'],
  ['token rm', 'token remove'],
  ['worker start', 'worker run'],
  ...FROM_III,
]);

/** Names that users of other tools type and that could mean two things here, with the commands that work. */
export const AMBIGUOUS: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['  workcell exec -- ls      lists files of the workspace', '  workcell sandbox list    lists sandboxes']],
  [
    'rm',
    [
      `  workcell call coder::delete-file paths='["FILE"]'    deletes a file of the workspace`,
      '  workcell sandbox stop SANDBOX                        stops a sandbox and deletes it',
    ],
  ],
]);

export const commandNames: readonly string[] = [...loaders.keys()];

/** The name of the command that is also called this; the word itself when no command is. */
export function nameOf(typed: string): string {
  return ALIASES.get(typed) ?? typed;
}

export async function commandNamed(name: string): Promise<Command | undefined> {
  const command = await loaders.get(name)?.();
  const aliases = [...ALIASES].flatMap(([alias, meant]) => (meant === name ? [alias] : []));
  return command && (aliases.length > 0 ? { ...command, aliases } : command);
}

export async function allCommands(): Promise<Command[]> {
  return (await Promise.all(commandNames.map(commandNamed))) as Command[];
}
