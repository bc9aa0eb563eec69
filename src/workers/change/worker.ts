/** The change worker: the changes over one workspace. */
import { ConfigError, defineWorker, type CellConfig, type Log } from '#contract';
import { mountLayer } from '#fence';
import { HostError, Layers, openJail } from '#host';
import { configSchema, type ChangeConfig } from './config.ts';
import { errors, translate } from './errors.ts';

export interface ChangeContext {
  readonly layers: Layers;
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
    deadline: (deadlineMs) => errors.fail('W216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  open: openChange,
  close: ({ layers }) => layers.close(),
});

function openChange(config: ChangeConfig, log: Log, cell: CellConfig): ChangeContext {
  const { max_open, max_bytes, idle_days } = config;
  const limits = { maxOpen: max_open, maxBytes: max_bytes, idleMs: idle_days * 86_400_000 };
  const layers = new Layers(rootOf(config), { stateDir: cell.state_dir, limits, mount: mountLayer });
  return { layers, config, cell, log };
}

function rootOf({ workspace }: ChangeConfig): string {
  try {
    return openJail(workspace).roots[0]!;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new ConfigError(`change.workspace: ${error.message}`, { cause: error });
  }
}
