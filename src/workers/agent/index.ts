/** The agent worker with its functions, in the order the documentation shows them. */
import { changes } from './functions/changes.ts';
import { edit } from './functions/edit.ts';
import { list } from './functions/list.ts';
import { move } from './functions/move.ts';
import { read } from './functions/read.ts';
import { search } from './functions/search.ts';
import { undo } from './functions/undo.ts';
import { write } from './functions/write.ts';
import { agent as worker } from './worker.ts';

export const agent = worker.withFunctions([read, search, list, edit, write, move, changes, undo]);
