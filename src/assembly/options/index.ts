/**
 * Checks of a start before any worker is loaded: the workspace, the configuration file, the preset's name.
 *
 * Loading the workers takes most of a start, and a mistake in the command line should not wait for it.
 */
export { defaultConfigPath, findConfigFile } from './config-path.ts';
export { PRESETS } from './preset-names.ts';
export { canonicalWorkspace } from './workspace.ts';
