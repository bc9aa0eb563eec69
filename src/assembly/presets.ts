/**
 * Configurations by name, for a start without a configuration file.
 *
 * The commands of `coding` run inside the fence. If the operator names it where the fence cannot be built, every
 * command is refused with the reason. If the server chooses it, `iii` replaces it there.
 */
import { ConfigError, didYouMean, type AnyWorker, type CellConfig, type Effect } from '#contract';
import { probeFence, type ShellConfig } from '#workers/shell';
import { entryOf, type WorkerEntry } from './config-file.ts';
import { PRESETS, type PresetName } from './options/preset-names.ts';

/** A preset, and one line about how it runs commands. */
export interface Preset {
  readonly name: PresetName;
  readonly holds: string;
  /** True for an explicit `--preset iii`: start prints nothing about presets. */
  readonly isShipped: boolean;
}

/** Builds and tests take longer than the short commands that the shipped timeouts are for. */
const LONG = { default_timeout_ms: 120_000, max_timeout_ms: 600_000 };

/** Additions to the shipped block of a worker. */
const BLOCKS: Record<PresetName, Record<string, Record<string, unknown>>> = {
  coding: { shell: { fence: 'workspace', fence_network: 'egress', ...LONG } },
  look: {},
  review: {
    shell: { fence: 'change', fence_network: 'none', ...LONG },
    change: { commit: 'console' },
    agent: { fence: 'off' },
  },
  open: { shell: { allowlist: [], denylist_patterns: [], ...LONG }, agent: { fence: 'off' } },
  iii: {},
};

const HOLDS: Record<PresetName, string> = {
  coding: 'any command runs; it can write the workspace and a private /tmp, and reach package registries',
  look: 'nothing runs and nothing is written',
  review: 'any command runs on a copy of the workspace that is thrown away, without a network, and no file is written',
  open: 'any command runs as this user, without a fence',
  iii: 'listed programs run as this user, without a fence',
};

/** The named preset; else coding if the fence works, else iii. */
export async function choosePreset(named: string | undefined, workspace: string): Promise<Preset> {
  if (named !== undefined && named !== 'coding') return presetNamed(named);
  const problem = await probeFence(workspace);
  if (problem === undefined) return presetNamed('coding');
  if (named !== undefined) return { name: 'coding', holds: `every command is refused: ${problem}`, isShipped: false };
  return { name: 'iii', holds: `${HOLDS.iii}: ${problem}`, isShipped: false };
}

function presetNamed(named: string): Preset {
  const name = PRESETS.find((preset) => preset === named);
  if (name) return { name, holds: HOLDS[name], isShipped: name === 'iii' };
  throw new ConfigError(`--preset must be ${PRESETS.join(', ')} (got ${named})${didYouMean(named, PRESETS)}`);
}

/** All workers over one workspace, with the denials of the preset. */
export function presetEntries(
  { name }: Preset,
  available: readonly AnyWorker[],
  { workspace, cell }: { workspace: string; cell?: Partial<CellConfig> | undefined },
): WorkerEntry[] {
  const entries = available.map((def) =>
    entryOf(def, { ...def.shippedBlock, ...BLOCKS[name][def.name] }, { workspace, ...(cell && { cell }) }),
  );
  if (name === 'look') return entries.map((entry) => only(entry, ['read']));
  return name === 'review' ? entries.map((entry) => only(entry, ['read', 'execute'])) : entries;
}

/**
 * The functions of a worker over files with these effects, and none of any other worker. The rest is denied to every
 * peer, also where another node serves it.
 */
function only(entry: WorkerEntry, effects: readonly Effect[]): WorkerEntry {
  const { functions } = entry.def;
  const isOverFiles = Object.keys(entry.def.workspaceDefaults('/')).length > 0;
  const kept = functions.filter(
    ({ effect, permissions }) => isOverFiles && effects.includes(effect) && !permissions.includes('fs.write'),
  );
  const denied = functions.filter((fn) => !kept.includes(fn)).map(({ id }) => id);
  return {
    ...entry,
    def: { ...entry.def, functions: kept },
    denial: { functions: denied, permissions: [], risks: [] },
  };
}

/** Whether commands of shell run without a fence, which is its default. */
export function hasOpenShell(entries: readonly WorkerEntry[]): boolean {
  return entries.some(({ def, config }) => def.name === 'shell' && (config as ShellConfig).fence === 'off');
}
