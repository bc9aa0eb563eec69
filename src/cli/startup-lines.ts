/** The output of `workcell start` once it serves: people read the block, programs wait for the ready line. */
import { hasOpenShell, type App, type Preset, type RunningWorkcell, type WorkerEntry } from '#assembly';
import { shippedCell } from '#contract';
import { version } from '#version';

const OPEN_SHELL =
  '  commands   that shell allows run as this user, without a fence; `fence: workspace` in its block sets one';

export interface Started {
  readonly file?: string;
  readonly workspace?: string;
  readonly preset?: Preset;
  readonly apps: readonly App[];
  readonly entries: readonly WorkerEntry[];
  /** The line about the cluster. */
  readonly cluster?: string | undefined;
}

export function startupLines(workcell: RunningWorkcell, started: Started): string[] {
  const { file, workspace, preset, apps, entries, cluster } = started;
  const http = workcell.url.replace(/^ws/, 'http');
  return [
    `workcell ${version}`,
    `  workers    ${workcell.workers.names.join(', ') || 'none: add one with workcell worker add <name>'}`,
    ...(workspace === undefined ? [] : [`  workspace  ${workspace}`]),
    ...(preset && !preset.isShipped ? [`  preset     ${preset.name}: ${preset.holds}`] : []),
    `  protect    ${protectedIn(entries)}`,
    ...(file === undefined ? [] : [`  config     ${file}`]),
    ...(file !== undefined && hasOpenShell(entries) ? [OPEN_SHELL] : []),
    ...apps.map((app, at) => `  app        ${app.name}${at === 0 ? ' (default namespace)' : ''}  ${app.file}`),
    ...(cluster === undefined ? [] : [cluster]),
    `  console    ${http}/`,
    `  functions  ${http}/functions`,
    `  reference  ${http}/docs`,
    `ready on ${workcell.url}`,
  ];
}

/** The protected globs of each worker; one list if all have the same. */
function protectedIn(entries: readonly WorkerEntry[]): string {
  const lists = entries.map(({ cell = shippedCell }) => cell.protect.join(' ') || 'nothing');
  return [...new Set(lists)].join('; ');
}
