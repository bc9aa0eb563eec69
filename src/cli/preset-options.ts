/** `--preset`: a configuration by name where no file decides. */
import { choosePreset, PRESETS, type Preset } from '#assembly';
import { UsageError, valueOption, type CommandInput, type OptionSpec } from './command.ts';
import { text } from './engine-address.ts';

export const presetOptions: Record<string, OptionSpec> = {
  preset: valueOption(
    'NAME',
    `${PRESETS.join(', ')}: what agents may do without a configuration file. Default $WORKCELL_PRESET, or coding where the fence works, or iii.`,
  ),
};

/** Undefined where a configuration file decides. */
export async function parsePreset(
  options: CommandInput['options'],
  { file, workspace }: { file: string | undefined; workspace: string },
  env: NodeJS.ProcessEnv = process.env,
): Promise<Preset | undefined> {
  const named = text(options.preset);
  if (file === undefined) return await choosePreset(named ?? (env.WORKCELL_PRESET || undefined), workspace);
  if (named === undefined) return undefined;
  throw new UsageError(`--preset ${named} and the configuration file ${file} cannot both decide: leave one out`);
}
