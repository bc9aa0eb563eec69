/** What a program that embeds Workcell assembles it from: the same pieces as the commands. */
export { defaultEntries, toEntries } from './config-file.ts';
export { assembleCell, startWorkcell } from './workcell.ts';
export { availableWorkers } from './workers.ts';
export { canonicalWorkspace } from './workspace.ts';
