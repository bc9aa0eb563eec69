/**
 * The configuration file: settings of all workers, and `workers:` with a name and a block each; environment variables
 * are expanded.
 *
 * It is read into plain data here; each worker's own schema parses its block.
 */
import { readFileSync } from 'node:fs';

import { parse } from 'yaml';
import { z } from 'zod';

import { accessConfig, type AccessConfig } from '#access';
import {
  cellConfig,
  ConfigError,
  didYouMean,
  isMap,
  parseConfig,
  shippedCell,
  type AnyWorker,
  type CellConfig,
  type Denial,
} from '#contract';
import { clusterConfig, type ClusterConfig } from './cluster-config.ts';
import { resolvePaths } from './path-templates.ts';

export interface WorkerEntry {
  def: AnyWorker;
  /** Parsed and complete, with the templates in its paths replaced. */
  config: unknown;
  /** Namespace of its functions; the default one when absent. */
  namespace?: string;
  /** Functions that `authorize` refuses in this namespace, also when another peer serves them. */
  denial?: Denial;
  /** Settings of all workers, for a worker over the workspace; the shipped ones when absent. */
  cell?: CellConfig;
}

/** Context that a worker's block is parsed with. */
export interface Surroundings {
  workspace?: string;
  env?: NodeJS.ProcessEnv;
  /** Overrides the file. */
  cell?: Partial<CellConfig>;
}

const FileSchema = cellConfig.extend({
  access: accessConfig.prefault({}),
  cluster: clusterConfig.prefault({}),
  workers: z.array(z.strictObject({ name: z.string(), config: z.unknown().optional() })).nullable(),
});

/** The entries of all workers over one workspace: the set that runs without a file. */
export function defaultEntries(
  available: readonly AnyWorker[],
  workspace: string,
  cell?: Partial<CellConfig>,
): WorkerEntry[] {
  return available.map((def) => entryOf(def, def.shippedBlock, { workspace, cell }));
}

export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** The workers a file lists. Defaults for keys that a block leaves out come from the workspace. */
export function parseEntries(text: string, available: readonly AnyWorker[], options: Surroundings = {}): WorkerEntry[] {
  const { workers, access: _, cluster: __, ...cell } = parseFile(text, options.env);
  return toEntries(workers ?? [], available, { ...options, cell: { ...cell, ...options.cell } });
}

/** The file's settings for all workers. */
export function parseCell(text: string): CellConfig {
  const { workers: _, access: __, cluster: ___, ...cell } = parseFile(text);
  return cell;
}

/** The file's rules about callers. */
export function parseAccess(text: string, env?: NodeJS.ProcessEnv): AccessConfig {
  return parseFile(text, env).access;
}

/** How the file joins a cluster. */
export function parseCluster(text: string, env?: NodeJS.ProcessEnv): ClusterConfig {
  return parseFile(text, env).cluster;
}

function parseFile(text: string, env: NodeJS.ProcessEnv = process.env) {
  return parseConfig(FileSchema, parseYaml(expandVariables(text, env), 'config') ?? { workers: [] }, 'config');
}

/** The workers of a list, with their blocks parsed; refuses a worker that is listed twice. */
export function toEntries(
  list: readonly { name: string; config?: unknown }[],
  available: readonly AnyWorker[],
  options: Surroundings,
): WorkerEntry[] {
  const entries = list.map(({ name, config }) => {
    const def = findWorker(name, available);
    return entryOf(def, config ?? def.shippedBlock, options);
  });
  const twice = firstTwice(entries.map(({ def }) => def.name));
  if (twice !== undefined) throw new ConfigError(`workers: ${twice} is listed twice`);
  return entries;
}

export function firstTwice(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

export function findWorker(name: string, available: readonly AnyWorker[]): AnyWorker {
  const def = available.find((worker) => worker.name === name);
  if (def) return def;
  const known = available.map((worker) => worker.name);
  throw new ConfigError(`workers: no worker "${name}"${didYouMean(name, known)}; this build has: ${known.join(', ')}`);
}

/**
 * Replaces `${NAME}` and `${NAME:fallback}` in the whole text; a variable with neither value nor fallback is an error.
 */
export function expandVariables(text: string, env: NodeJS.ProcessEnv): string {
  return text.replace(/\$\{([A-Za-z_]\w*)(?::([^}]*))?\}/g, (_, name: string, fallback: string | undefined) => {
    const value = env[name] ?? fallback;
    if (value === undefined)
      throw new ConfigError(`config: environment variable ${name} is not set; write \${${name}:default} to give one`);
    return value;
  });
}

/** A block with its defaults and resolved paths; without a workspace, templates resolve to the current directory. */
export function entryOf(
  def: AnyWorker,
  block: unknown,
  { workspace, env = process.env, cell }: Surroundings,
  where = `workers.${def.name}`,
): WorkerEntry {
  const filled = workspace === undefined ? block : withDefaults(block, def.workspaceDefaults(workspace));
  const parsed = parseConfig(def.config, filled, where);
  const config = resolvePaths(def, parsed, { workspace: workspace ?? process.cwd(), env }, where);
  // A worker that is not over the workspace must not restart when its settings change.
  const takesPart = Object.keys(def.workspaceDefaults('/')).length > 0;
  return { def, config, ...(takesPart && cell && { cell: { ...shippedCell, ...cell } }) };
}

/** The block with defaults at any depth; a block that is not a map is left for its schema to refuse. */
function withDefaults(block: unknown, defaults: unknown): unknown {
  if (!isMap(block) || !isMap(defaults)) return block;
  const missing = Object.entries(defaults).map(([key, value]) => [
    key,
    key in block ? withDefaults(block[key], value) : value,
  ]);
  return { ...block, ...Object.fromEntries(missing) };
}

/** `where` names the text in messages. */
export function parseYaml(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(`${where}: ${(error as Error).message}`, { cause: error });
  }
}
