/**
 * Path templates: `{{workspace}}`, `{{home}}`, `{{tmp}}` and `{{env.NAME}}`, wherever a block takes the workspace.
 *
 * They are resolved once, when the block is read, so that later readers of a configuration see real directories.
 */
import { homedir, tmpdir } from 'node:os';
import { sep } from 'node:path';

import { ConfigError, didYouMean, type AnyWorker } from '#contract';

export interface TemplateValues {
  workspace: string;
  env: NodeJS.ProcessEnv;
}

const VARIABLES = new Map<string, (values: TemplateValues) => string>([
  ['workspace', ({ workspace }) => workspace],
  ['home', ({ env }) => env.HOME || homedir()],
  ['tmp', () => tmpdir()],
]);

/** Replaces the templates in the paths of a configuration; `where` names the block in messages. */
export function resolvePaths(def: AnyWorker, config: unknown, values: TemplateValues, where: string): unknown {
  return resolveAt(def.workspaceDefaults(sep), config, values, where);
}

function resolveAt(shape: unknown, value: unknown, values: TemplateValues, where: string): unknown {
  if (shape === undefined) return value;
  if (typeof value === 'string') return fill(value, values, where);
  if (Array.isArray(value)) return value.map((item) => resolveAt(sep, item, values, where));
  if (typeof value !== 'object' || value === null || typeof shape !== 'object') return value;

  const shapes = shape as Record<string, unknown>;
  const resolved = Object.entries(value).map(([key, inner]) => [
    key,
    resolveAt(shapes[key], inner, values, `${where}.${key}`),
  ]);
  return Object.fromEntries(resolved);
}

function fill(text: string, values: TemplateValues, where: string): string {
  return text.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => {
    const value = name.startsWith('env.') ? values.env[name.slice(4)] : VARIABLES.get(name)?.(values);
    if (value) return value;
    if (name.startsWith('env.')) throw new ConfigError(`${where}: environment variable ${name.slice(4)} is not set`);

    const known = [...VARIABLES.keys()];
    const hint = `${didYouMean(name, known)}; there is: ${known.join(', ')}, env.NAME`;
    throw new ConfigError(`${where}: no path template "${name}"${hint}`);
  });
}
