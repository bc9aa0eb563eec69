/**
 * The configuration file: `workers:` with a name and a block each, environment variables expanded.
 *
 * It is read into plain data here; what the blocks mean is each worker's own schema.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';

import { ConfigError, didYouMean, parseConfig, type AnyWorker } from '#contract';

export interface WorkerEntry {
  def: AnyWorker;
  /** Parsed and complete. */
  config: unknown;
}

const FileSchema = z.strictObject({
  workers: z.array(z.strictObject({ name: z.string(), config: z.unknown().optional() })).nullable(),
});

/** Where `worker add` writes and `start` looks when no file is named. Never in the workspace: agents write there. */
export function defaultConfigPath(env: NodeJS.ProcessEnv = process.env): string {
  return env.WORKCELL_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'workcell', 'config.yaml');
}

/** All workers over one workspace: what runs when there is no file. */
export function defaultEntries(available: readonly AnyWorker[], workspace: string): WorkerEntry[] {
  return available.map((def) => ({ def, config: configOf(def, {}, workspace) }));
}

export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** The workers a file asks for. A workspace fills what their blocks leave out. */
export function parseEntries(
  text: string,
  available: readonly AnyWorker[],
  options: { workspace?: string; env?: NodeJS.ProcessEnv } = {},
): WorkerEntry[] {
  const file = parseConfig(FileSchema, parseYaml(expandVariables(text, options.env ?? process.env)), 'config');
  const entries = (file.workers ?? []).map(({ name, config }) => {
    const def = findWorker(name, available);
    return { def, config: configOf(def, config ?? {}, options.workspace) };
  });
  const names = entries.map(({ def }) => def.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new ConfigError(`workers: ${twice} is listed twice`);
  return entries;
}

export function findWorker(name: string, available: readonly AnyWorker[]): AnyWorker {
  const def = available.find((worker) => worker.name === name);
  if (def) return def;
  const known = available.map((worker) => worker.name);
  throw new ConfigError(`workers: no worker "${name}"${didYouMean(name, known)}; this build has: ${known.join(', ')}`);
}

/** Replaces `${NAME}` and `${NAME:fallback}` in the whole text; a variable that is neither set nor defaulted is an error. */
export function expandVariables(text: string, env: NodeJS.ProcessEnv): string {
  return text.replace(/\$\{([A-Za-z_]\w*)(?::([^}]*))?\}/g, (_, name: string, fallback: string | undefined) => {
    const value = env[name] ?? fallback;
    if (value === undefined)
      throw new ConfigError(`config: environment variable ${name} is not set; write \${${name}:default} to give one`);
    return value;
  });
}

function configOf(def: AnyWorker, block: unknown, workspace: string | undefined): unknown {
  const fromWorkspace = workspace === undefined ? {} : def.workspaceDefaults(workspace);
  const isObject = typeof block === 'object' && block !== null && !Array.isArray(block);
  return parseConfig(def.config, isObject ? { ...fromWorkspace, ...block } : block, `workers.${def.name}`);
}

function parseYaml(text: string): unknown {
  try {
    return parse(text) ?? { workers: [] };
  } catch (error) {
    if (error instanceof YAMLParseError) throw new ConfigError(`config: ${error.message}`);
    throw error;
  }
}
