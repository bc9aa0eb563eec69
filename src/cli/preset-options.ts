/** `--preset`: a configuration by name, instead of a configuration file. */
import type { Preset } from '#assembly';
import { PRESETS } from '#assembly/options';
import { UsageError, valueOption, type CommandInput, type OptionSpec } from './command.ts';
import { text } from './engine-address.ts';

export const presetOptions: Record<string, OptionSpec> = {
  preset: valueOption(
    'NAME',
    `${PRESETS.join(', ')}: what agents may do without a configuration file. Default $WORKCELL_PRESET, or coding where the fence works, or iii.`,
  ),
};

/** The preset that the operator names; refused beside a configuration file, which has to be the only source. */
export function namedPreset(
  options: CommandInput['options'],
  file: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const named = text(options.preset);
  if (file === undefined) return named ?? (env.WORKCELL_PRESET || undefined);
  if (named === undefined) return undefined;
  throw new UsageError(`--preset ${named} and the configuration file ${file} cannot both decide: leave one out`);
}

/** Undefined where a configuration file decides. */
export async function parsePreset(
  options: CommandInput['options'],
  { file, workspace }: { file: string | undefined; workspace: string },
): Promise<Preset | undefined> {
  const named = namedPreset(options, file);
  // Loaded here: probing the fence needs the workers.
  return file === undefined ? (await import('#assembly')).choosePreset(named, workspace) : undefined;
}
