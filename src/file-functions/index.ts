/** The file operations, written once for every worker that offers them. */
export { chmod } from './chmod.ts';
export { codeOfFault, codeOfHostReason } from './file-codes.ts';
export type { FileCode, FileContext, FileOperation } from './file-operation.ts';
export { grep } from './grep.ts';
export { ls } from './ls.ts';
export { mkdir } from './mkdir.ts';
export { mv } from './mv.ts';
export { noteField, Notes, withNotes } from './note.ts';
export { OpenReads } from './open-reads.ts';
export { read } from './read.ts';
export { rm } from './rm.ts';
export { sed } from './sed.ts';
export { sFailures } from './s-failures.ts';
export { stat } from './stat.ts';
export { write } from './write.ts';
export { workspaceCodes, workspaceFailures } from './workspace-failures.ts';
