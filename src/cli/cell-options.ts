/** What the command line and the environment say for all workers, in place of the configuration file. */
import type { CellConfig } from '#contract';
import type { CommandInput, OptionSpec } from './command.ts';

export const cellOptions: Record<string, OptionSpec> = {
  protect: {
    type: 'string',
    value: 'GLOB',
    multiple: true,
    description:
      'Files that no file function reaches, in place of `protect` in the file; repeatable, an empty one alone protects nothing. Default $WORKCELL_PROTECT, with a colon between globs.',
  },
};

/** Undefined where the configuration file decides. */
export function parseCellOptions(
  { protect }: CommandInput['options'],
  env: NodeJS.ProcessEnv = process.env,
): CellConfig | undefined {
  // A variable that is set to nothing counts as not set.
  const globs = Array.isArray(protect) ? protect : (env.WORKCELL_PROTECT || undefined)?.split(':');
  return globs && { protect: globs.filter((glob) => glob !== '') };
}
