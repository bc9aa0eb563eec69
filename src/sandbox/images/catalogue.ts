/** The images by name: the presets, and those the operator added. */

/** Names of the images that come with Workcell; custom ones may not use them. */
export const PRESET_NAMES = ['python', 'node'] as const;

export interface CatalogueRow {
  readonly name: string;
  /** Its full reference. */
  readonly ref: string;
  readonly kind: 'preset' | 'custom';
}

export type PresetName = (typeof PRESET_NAMES)[number];

const PRESET_REFS: Readonly<Record<PresetName, string>> = {
  python: 'docker.io/iiidev/python:latest',
  node: 'docker.io/iiidev/node:latest',
};

/** Presets first, then the custom ones by name. */
export function imageCatalogue(customImages: Readonly<Record<string, string>>): CatalogueRow[] {
  const presets = PRESET_NAMES.map((name) => ({ name, ref: PRESET_REFS[name], kind: 'preset' as const }));
  const custom = Object.entries(customImages).map(([name, ref]) => ({ name, ref, kind: 'custom' as const }));
  return [...presets, ...custom.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))];
}

export function isPreset(name: string): name is PresetName {
  return (PRESET_NAMES as readonly string[]).includes(name);
}
