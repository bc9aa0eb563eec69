/**
 * An app: which actions of which modules it sees, and the constraints they run under, in a YAML file of its own.
 *
 * A module is a worker whose functions declare their permission and risk; without that an app could not deny by either.
 * Defaults are closed: paths are the workspace, and a denied permission has to exist.
 */
import { basename, extname } from 'node:path';

import { z } from 'zod';

import { cellConfig, ConfigError, didYouMean, parseConfig, RISKS, type AnyWorker } from '#contract';
import {
  entryOf,
  expandVariables,
  firstTwice,
  parseYaml,
  readConfigFile,
  type Surroundings,
  type WorkerEntry,
} from './config-file.ts';

export interface App {
  name: string;
  file: string;
  /** One per module. */
  entries: WorkerEntry[];
}

const DenySchema = z.strictObject({
  permissions: z.array(z.string()).default([]),
  risk: z.array(z.enum(RISKS)).default([]),
});

const AppSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be letters, digits, "-", "_" and "."')
    .optional(),
  modules: z.array(
    z.strictObject({
      module: z.string(),
      actions: z.array(z.string()).optional(),
      constraints: z.unknown().optional(),
    }),
  ),
  deny: DenySchema.prefault({}),
  protect: cellConfig.shape.protect.unwrap().optional(),
});

export interface AppSurroundings extends Surroundings {
  available: readonly AnyWorker[];
  workspace: string;
}

/** Apps in the given order: the first is called without a namespace, every other by its name. */
export function readApps(files: readonly string[], surroundings: AppSurroundings): App[] {
  const apps = files.map((file) => parseApp(readConfigFile(file), file, surroundings));
  const twice = firstTwice(apps.map(({ name }) => name));
  if (twice !== undefined) throw new ConfigError(`two apps are called "${twice}": give one of them another \`name\``);

  return apps.map((app, at) => {
    if (at === 0) return app;
    if (app.name === 'default') throw new ConfigError(`${app.file}: only the first app may be called "default"`);
    return { ...app, entries: app.entries.map((entry) => ({ ...entry, namespace: app.name })) };
  });
}

/** Replaces workers of a configuration by those of the first app, and adds those of the other apps. */
export function withApps(entries: readonly WorkerEntry[], apps: readonly App[]): WorkerEntry[] {
  const modules = new Set(apps.flatMap((app) => app.entries.map(({ def }) => def.name)));
  return [...entries.filter(({ def }) => !modules.has(def.name)), ...apps.flatMap((app) => app.entries)];
}

function parseApp(text: string, file: string, { available, ...surroundings }: AppSurroundings): App {
  const app = parseConfig(AppSchema, parseYaml(expandVariables(text, surroundings.env ?? process.env), file), file);
  const own = app.protect && { cell: { ...surroundings.cell, protect: app.protect } };
  const modules = available.filter(({ functions }) => functions.every(({ policy }) => policy !== undefined));
  const entries = app.modules.map(({ module, actions, constraints }) => {
    const def = named(module, modules, ({ name }) => name, `${file}: no module`);
    const where = `${file}: ${module}`;
    const functions = allowedFunctions(def, actions, app.deny, where);
    const block = constraints ?? def.shippedBlock;
    return {
      ...entryOf({ ...def, functions }, block, { ...surroundings, ...own }, `${where}.constraints`),
      denial: {
        functions: def.functions.filter((fn) => !functions.includes(fn)).map(({ id }) => id),
        permissions: app.deny.permissions,
        risks: app.deny.risk,
      },
    };
  });
  const twice = firstTwice(entries.map(({ def }) => def.name));
  if (twice !== undefined) throw new ConfigError(`${file}: module ${twice} is listed twice`);
  return { name: app.name ?? basename(file, extname(file)), file, entries };
}

/** The functions that the app names, or all when it names none, minus those that it denies. */
function allowedFunctions(
  def: AnyWorker,
  actions: readonly string[] | undefined,
  deny: z.output<typeof DenySchema>,
  where: string,
): AnyWorker['functions'] {
  const permissions = [...new Set(def.functions.flatMap((fn) => fn.permissions))];
  const denied = deny.permissions.map((name) => named(name, permissions, String, `${where}: no permission`));
  const listed = actions?.map((name) =>
    named(name, def.functions, ({ id }) => actionOf(def, id), `${where}: no action`),
  );
  return (listed ?? def.functions).filter(
    ({ permissions: needed, policy }) =>
      !needed.some((permission) => denied.includes(permission)) && !deny.risk.includes(policy!.risk),
  );
}

function actionOf({ name }: AnyWorker, id: string): string {
  return id.slice(`${name}::`.length);
}

/** The item of that name, or an error that suggests the nearest. */
function named<T>(name: string, all: readonly T[], nameOf: (item: T) => string, refusal: string): T {
  const found = all.find((item) => nameOf(item) === name);
  if (found !== undefined) return found;
  const known = all.map(nameOf);
  throw new ConfigError(`${refusal} "${name}"${didYouMean(name, known)}; there is: ${known.join(', ')}`);
}
