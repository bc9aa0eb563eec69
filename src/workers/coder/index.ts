/** The coder worker with its functions, in the order the documentation shows them. */
import { listFolder } from './functions/list-folder.ts';
import { readFile } from './functions/read-file.ts';
import { coder as worker } from './worker.ts';

export const coder = worker.withFunctions([readFile, listFolder]);
