/** The coder worker with its functions, in the order the documentation shows them. */
import { applyPatch } from './functions/apply-patch.ts';
import { checkpoint } from './functions/checkpoint.ts';
import { checkpoints } from './functions/checkpoints.ts';
import { createFile } from './functions/create-file.ts';
import { deleteFile } from './functions/delete-file.ts';
import { listFolder } from './functions/list-folder.ts';
import { readFile } from './functions/read-file.ts';
import { search } from './functions/search.ts';
import { tree } from './functions/tree.ts';
import { undo } from './functions/undo.ts';
import { updateFile } from './functions/update-file.ts';
import { coder as worker } from './worker.ts';

export const coder = worker.withFunctions([
  readFile,
  search,
  updateFile,
  applyPatch,
  createFile,
  deleteFile,
  listFolder,
  tree,
  undo,
  checkpoint,
  checkpoints,
]);
