/** Settings of all workers from the command line and the environment, which override the configuration file. */
import type { CellConfig } from '#contract';
import { valueOption, type CommandInput, type OptionSpec } from './command.ts';

export const cellOptions: Record<string, OptionSpec> = {
  protect: valueOption(
    'GLOB',
    'Files that no file function reaches; overrides `protect` in the file. Repeatable; a single empty value protects nothing. Default $WORKCELL_PROTECT, globs separated by colons.',
    { multiple: true },
  ),
};

/** Undefined where the configuration file decides. */
export function parseCellOptions(
  { protect }: CommandInput['options'],
  env: NodeJS.ProcessEnv = process.env,
): Partial<CellConfig> | undefined {
  // An empty variable counts as unset.
  const globs = Array.isArray(protect) ? protect : (env.WORKCELL_PROTECT || undefined)?.split(':');
  return globs && { protect: globs.filter((glob) => glob !== '') };
}
