/** workcell start: runs the bus, the workers and the HTTP surface, until a signal. */
import { resolve } from 'node:path';

import {
  type App,
  availableWorkers,
  canonicalWorkspace,
  findConfigFile,
  guardFor,
  isWithinReach,
  parseCell,
  parseCluster,
  parseEntries,
  type Preset,
  presetEntries,
  readApps,
  readConfigFile,
  requireTelemetry,
  startWorkcell,
  watchConfig,
  withApps,
  type WorkerEntry,
} from '#assembly';
import { ConfigError, type CellConfig, type Log } from '#contract';
import { valueOption, type Command, type CommandInput } from '../command.ts';
import { cellOptions, parseCellOptions } from '../cell-options.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { clusterOptions, parseClusterOptions, parseDrainTimeout } from '../cluster/cluster-options.ts';
import { text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { listenOptions, parseListenOptions } from '../listen-options.ts';
import { parsePreset, presetOptions } from '../preset-options.ts';
import { startupLines } from '../startup-lines.ts';
import { isLogLevel, terminalLog } from '../terminal-log.ts';
import { untilSignal } from '../until-signal.ts';

/** Longest wait for preparation; a larger tree loads while calls come in. */
const MOST_PREPARING_MS = 1000;

export const start: Command = {
  name: 'start',
  summary: 'Start the bus, the workers and the HTTP server, and run until stopped.',
  details:
    'Without a configuration file all workers run over the workspace, with the settings of the preset. The modules of the\n' +
    'first app replace the workers of the same name; modules of later apps are called with the app’s name as namespace.\n' +
    'SIGINT and SIGTERM stop everything and exit 0; a node of a cluster with sandboxes first waits for them to end after\n' +
    'SIGTERM.',
  options: {
    config: valueOption(
      'FILE',
      'Configuration file, default $WORKCELL_CONFIG or ~/.config/workcell/config.yaml if there is one.',
      { short: 'c' },
    ),
    workspace: valueOption('DIR', 'Directory the workers are limited to, default the current one.'),
    app: valueOption(
      'FILE',
      'App file with modules, actions and constraints; repeatable, the first is the default namespace.',
      { multiple: true },
    ),
    ...presetOptions,
    ...cellOptions,
    ...listenOptions,
    ...clusterOptions,
    'log-level': valueOption('LEVEL', 'debug, info, warn, error or silent.', { default: 'info' }),
  },
  examples: [
    'workcell start',
    'workcell start --workspace ~/project --port 0',
    'workcell start --preset look',
    'workcell start -c cell.yaml',
    'workcell start --app editor.yaml --app reviewer.yaml',
    'workcell start --cluster nats://10.0.0.5:4222 --node build-7 --share coder,shell',
  ],
  maxWords: 0,

  async run({ options }) {
    const log = terminalLog(parseLevel(options));
    const source = await findSource(options);
    const node = await openNode(options, source, log);
    const entries = readEntries(source);
    warnOfApps(source, entries, log);
    const { file, workspace = process.cwd(), cell } = source;
    const guard = guardFor(file === undefined ? undefined : readConfigFile(file), { workspace, cell, log });
    const listening = parseListenOptions(options, guard.access);
    const telemetry = await requireTelemetry(log);
    const run = (listed: WorkerEntry[]) => node?.workers(listed) ?? listed;
    const parts = { entries: run(entries), log, guard, telemetry, prepares: true };
    const workcell = await startWorkcell({ ...listening, ...parts }).catch(explainListening);
    const apply = (changed: WorkerEntry[]) => workcell.workers.apply(run(changed));
    const watcher = watchSource(source, { entries, apply, guard, log });
    const stopped = untilSignal();
    await node?.join(workcell);
    await workcell.workers.prepared(MOST_PREPARING_MS);
    const lines = startupLines(workcell, { ...source, entries, cluster: node?.line });
    process.stdout.write(`${lines.join('\n')}\n`);

    const signal = await stopped;
    log.info('stopping', { signal });
    await watcher?.close();
    await node?.leave(signal);
    await workcell.close();
    // Exits at once: exporters that retry a dead collector would keep the process until their timeout.
    if (telemetry) process.exit(EXIT.ok);
    return EXIT.ok;
  },
};

/** Undefined without --cluster: nothing of it is loaded then. */
async function openNode(
  options: CommandInput['options'],
  { file, workspace }: Source,
  log: Log,
): Promise<ClusterNode | undefined> {
  const drainMs = parseDrainTimeout(options);
  const inFile = file === undefined ? undefined : parseCluster(readConfigFile(file));
  const settings = await parseClusterOptions(options, { file: inFile });
  if (!settings) return undefined;
  const { ClusterNode } = await import('../cluster/cluster-node.ts');
  return new ClusterNode(settings, { drainMs, log, workspace });
}

/** The source of the workers' configuration. */
interface Source {
  file?: string;
  /** Absent when only the file decides. */
  workspace?: string;
  /** Settings of all workers from the command line, which override the file. */
  cell?: Partial<CellConfig>;
  /** The preset of a start without a configuration file. */
  preset?: Preset;
  /** Read once: the permissions of an app do not change while it runs. */
  apps: readonly App[];
}

async function findSource(options: CommandInput['options']): Promise<Source> {
  const named = findConfigFile(text(options.config));
  const file = named && resolve(named);
  const given = text(options.workspace);
  const workspace = given ?? (file === undefined ? process.cwd() : undefined);
  const canonical =
    workspace && canonicalWorkspace(workspace, '--workspace', { isReadOnly: options.app !== undefined });
  const cell = parseCellOptions(options);
  const appFiles = Array.isArray(options.app) ? options.app.map((app) => resolve(app)) : [];
  const apps = readApps(appFiles, {
    available: availableWorkers,
    workspace: canonical ?? process.cwd(),
    cell: { ...(file !== undefined && parseCell(readConfigFile(file))), ...cell },
  });
  const preset = await parsePreset(options, { file, workspace: canonical ?? process.cwd() });
  return { file, workspace: canonical, cell, preset, apps };
}

function readEntries({ file, workspace, cell, preset, apps }: Source): WorkerEntry[] {
  const entries =
    file === undefined
      ? presetEntries(preset!, availableWorkers, { workspace: workspace!, cell })
      : parseEntries(readConfigFile(file), availableWorkers, { workspace, ...(cell && { cell }) });
  return withApps(entries, apps);
}

function warnOfApps({ apps, workspace = process.cwd() }: Source, entries: WorkerEntry[], log: Log): void {
  for (const { file } of apps.filter((app) => isWithinReach(app.file, workspace, entries))) {
    log.warn('the app file lies where agents may write: what they change in it takes effect at the next start', {
      file,
    });
  }
}

interface Running {
  entries: WorkerEntry[];
  apply: (changed: WorkerEntry[]) => Promise<void>;
  guard: ReturnType<typeof guardFor>;
  log: Log;
}

function watchSource(source: Source, { entries, apply, guard, log }: Running): { close(): Promise<void> } | undefined {
  const { file } = source;
  if (file === undefined) return undefined;

  const workspace = source.workspace ?? process.cwd();
  if (isWithinReach(file, workspace, entries)) {
    log.warn(
      'the configuration file lies in the workspace, where agents may write: changes to it take effect only at the next start',
      { file },
    );
    return undefined;
  }
  return watchConfig(file, log, async () => {
    const changed = readEntries(source);
    if (isWithinReach(file, workspace, changed)) {
      throw new ConfigError(`it would let agents write ${file}; move that file, or restart to accept it`);
    }
    // Both are checked before either takes effect.
    const replaceAccess = guard.prepare(readConfigFile(file));
    await apply(changed);
    replaceAccess();
  });
}

function parseLevel(options: CommandInput['options']) {
  const level = text(options['log-level']) ?? 'info';
  if (!isLogLevel(level))
    throw new ConfigError(`--log-level must be debug, info, warn, error or silent (got ${level})`);
  return level;
}

function explainListening(error: NodeJS.ErrnoException & { port?: number }): never {
  if (error.code === 'EADDRINUSE')
    throw new ConfigError(`port ${error.port} is in use: is a Workcell running already? --port picks another`);
  if (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
    throw new ConfigError(`cannot listen there: ${error.message}`);
  throw error;
}
