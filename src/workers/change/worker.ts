/** The change worker: the changes over one workspace. */
import { ConfigError, defineWorker, type CellConfig, type Log } from '#contract';
import { mountLayer } from '#fence';
import { HostError, Layers, openJail, settleCommit } from '#host';
import { committingOwn } from './commit-own.ts';
import { configSchema, type ChangeConfig } from './config.ts';
import { errors, translate } from './errors.ts';
import { openWorkspace, type LiveWorkspace } from './open-workspace.ts';

export interface ChangeContext {
  readonly layers: Layers;
  readonly live: LiveWorkspace;
  readonly config: ChangeConfig;
  readonly cell: CellConfig;
  readonly log: Log;
}

export const change = defineWorker({
  name: 'change',
  summary: 'Collect changes of files and commands in a layer of their own, then commit or discard all of them.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ workspace }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('W210', { problem }),
    internal: (callId) => errors.fail('W216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) =>
      errors.fail('W216', {
        problem: `not done after ${deadlineMs} ms, which no setting raises; name fewer \`paths\``,
      }),
  },
  translate,
  open: openChange,
  async close({ layers, live }) {
    await layers.close();
    await live.workspace.close();
  },
});

async function openChange(config: ChangeConfig, log: Log, cell: CellConfig): Promise<ChangeContext> {
  const { max_open, max_bytes, idle_days } = config;
  const limits = { maxOpen: max_open, maxBytes: max_bytes, idleMs: idle_days * 86_400_000 };
  const layers = new Layers(rootOf(config), { stateDir: cell.state_dir, limits, mount: mountLayer });
  const live = openWorkspace(layers.workspace, { cell, isSynced: config.fsync, maxFiles: config.max_files_diff });
  await live.workspace.recovered;
  settleCommits(layers, live);
  layers.commitOwn = committingOwn(live);
  return { layers, live, config, cell, log };
}

/** Removes changes whose commit finished before the server was killed. */
function settleCommits({ store }: Layers, { journal }: LiveWorkspace): void {
  for (const name of store.names()) {
    const paths = store.pathsOf(name);
    if (settleCommit(paths, journal) === 'ended') store.remove(paths);
  }
}

function rootOf({ workspace }: ChangeConfig): string {
  try {
    return openJail(workspace).roots[0]!;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`change.workspace: ${error.message}`, { cause: error });
  }
}
