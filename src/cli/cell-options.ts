/** Settings of all workers from the command line and the environment, which override the configuration file. */
import type { CellConfig } from '#contract';
import type { CommandInput, OptionSpec } from './command.ts';

export const cellOptions: Record<string, OptionSpec> = {
  protect: {
    type: 'string',
    value: 'GLOB',
    multiple: true,
    description:
      'Files that no file function reaches; overrides `protect` in the file. Repeatable; a single empty value protects nothing. Default $WORKCELL_PROTECT, globs separated by colons.',
  },
};

/** Undefined where the configuration file decides. */
export function parseCellOptions(
  { protect }: CommandInput['options'],
  env: NodeJS.ProcessEnv = process.env,
): CellConfig | undefined {
  // An empty variable counts as unset.
  const globs = Array.isArray(protect) ? protect : (env.WORKCELL_PROTECT || undefined)?.split(':');
  return globs && { protect: globs.filter((glob) => glob !== '') };
}
