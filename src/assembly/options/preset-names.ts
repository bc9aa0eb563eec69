/** Names of the presets; `assembly/presets.ts` defines them. */
export const PRESETS = ['coding', 'look', 'review', 'open', 'iii'] as const;
export type PresetName = (typeof PRESETS)[number];
