/** Names of the presets; `assembly/presets.ts` has what each of them means. */
export const PRESETS = ['coding', 'look', 'review', 'open', 'iii'] as const;
export type PresetName = (typeof PRESETS)[number];
