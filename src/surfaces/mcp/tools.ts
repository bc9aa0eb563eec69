/**
 * Functions of the catalogue as MCP tools: names, descriptions, schemas and hints, in the order of the ids.
 *
 * A name is derived from the id, and stays with the first id that had it for as long as that exists: no worker can take
 * over a tool by an id with the same spelling. Later ones get a number.
 */
import type { Tool } from '@modelcontextprotocol/server';

import type { CatalogueEntry } from '#contract';
import { toToolName, workerSegment } from '#protocol';
import { bareName, isAgentFunction, isListed, type Profile } from './profiles.ts';
import { toolSchema } from './tool-schema.ts';

/** Which functions are offered. */
export interface ToolProfile {
  /** Lists only the functions of these; every function when absent. */
  readonly profiles?: readonly Profile[];
  /** Workers (`coder`), ids (`coder::search`) or names (`coder_search`); default all. */
  readonly only?: readonly string[];
  /** Only functions that change nothing and run nothing. */
  readonly isReadOnly?: boolean;
  /** Default `default`. */
  readonly namespace?: string;
  /** Whether results are structured content with an output schema; default text. */
  readonly isStructured?: boolean;
}

export interface OfferedTool {
  readonly definition: Tool;
  readonly entry: CatalogueEntry;
}

const MAX_NAME = 64;

/** Names by the id that has them. */
export type NamesTaken = Map<string, string>;

/** `names` is kept between calls and updated here. */
export function toTools(
  catalogue: readonly CatalogueEntry[],
  profile: ToolProfile = {},
  names: NamesTaken = new Map(),
): Map<string, OfferedTool> {
  const { namespace = 'default' } = profile;
  const entries = catalogue.filter((entry) => entry.namespace === namespace);
  nameAll(entries, names);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const named = [...names]
    .map(([name, id]) => [name, byId.get(id)!] as const)
    .toSorted(([, a], [, b]) => (a.id < b.id ? -1 : 1));
  const offered = named.filter(([name, entry]) => isOffered(name, entry, profile));
  return new Map(offered.map(([name, entry]) => [name, { entry, definition: define(name, entry, profile) }]));
}

function nameAll(entries: readonly CatalogueEntry[], names: NamesTaken): void {
  const ids = new Set(entries.map(({ id }) => id));
  for (const [name, id] of names) if (!ids.has(id)) names.delete(name);
  const named = new Set(names.values());
  for (const entry of entries) if (!named.has(entry.id)) names.set(freeName(nameOf(entry), names), entry.id);
}

function nameOf(entry: CatalogueEntry): string {
  return toToolName(isAgentFunction(entry) ? bareName(entry) : entry.id);
}

function freeName(wanted: string, taken: NamesTaken): string {
  if (!taken.has(wanted)) return wanted;
  for (let count = 2; ; count++) {
    const suffix = `_${count}`;
    const name = wanted.slice(0, MAX_NAME - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}

/** Whether the profile offers this function, under this name. */
function isOffered(name: string, entry: CatalogueEntry, profile: ToolProfile): boolean {
  // A function without a declared effect may do anything.
  if (profile.isReadOnly === true && entry.effect !== 'read') return false;
  return isChosen(name, entry.id, profile) && (profile.profiles === undefined || isListed(entry, profile.profiles));
}

/** Whether the words of the operator name it, whatever its effect. */
function isChosen(name: string, id: string, { only }: ToolProfile): boolean {
  return only === undefined || [name, id, workerSegment(id)].some((spelling) => only.includes(spelling));
}

function define(name: string, entry: CatalogueEntry, { isStructured = false }: ToolProfile): Tool {
  const output = isStructured ? toolSchema(entry.response, 'output') : undefined;
  return {
    name,
    description: describe(entry),
    inputSchema: withModelDefaults(toolSchema(entry.request, 'input') ?? { type: 'object' }, entry),
    ...(output && { outputSchema: output }),
    ...(entry.effect && { annotations: hintsOf(entry) }),
    ...(entry.risk && { _meta: policyOf(entry) }),
  };
}

function withModelDefaults(schema: Tool['inputSchema'], { model_defaults }: CatalogueEntry): Tool['inputSchema'] {
  const { properties } = schema;
  if (!model_defaults || !properties) return schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    return [
      name,
      Object.hasOwn(model_defaults, name) ? { ...(field as object), default: model_defaults[name] } : field,
    ];
  });
  return { ...schema, properties: Object.fromEntries(fields) as typeof properties };
}

function describe({ summary, details, examples, id, has_text }: CatalogueEntry): string {
  const [example] = has_text ? [] : examples;
  const shown = example === undefined || isEmpty(example) ? undefined : `Example: ${JSON.stringify(example)}`;
  return [summary || id, details, shown].filter((part) => part !== undefined).join('\n\n');
}

function isEmpty(example: unknown): boolean {
  return typeof example === 'object' && example !== null && Object.keys(example).length === 0;
}

/** Hints describe the worst effect of a call; a function without a declared effect may destroy. */
function hintsOf({ effect, destructive, idempotent }: CatalogueEntry): NonNullable<Tool['annotations']> {
  const isReading = effect === 'read';
  return {
    readOnlyHint: isReading,
    destructiveHint: !isReading && (destructive ?? true),
    idempotentHint: isReading || (idempotent ?? false),
    openWorldHint: effect === 'execute',
  };
}

/** The facts for the operator's policy, for clients that confirm calls. */
function policyOf({ permissions, risk, side_effects, constraints }: CatalogueEntry): NonNullable<Tool['_meta']> {
  return { 'workcell/policy': { permissions, risk, side_effects, constraints } };
}
