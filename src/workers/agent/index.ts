/** The agent worker with its functions, in the order the documentation shows them. */
import { changes } from './functions/changes.ts';
import { edit } from './functions/edit.ts';
import { job } from './functions/job.ts';
import { list } from './functions/list.ts';
import { more } from './functions/more.ts';
import { move } from './functions/move.ts';
import { outline } from './functions/outline.ts';
import { output } from './functions/output.ts';
import { read } from './functions/read.ts';
import { run } from './functions/run.ts';
import { sandbox } from './functions/sandbox.ts';
import { search } from './functions/search.ts';
import { undo } from './functions/undo.ts';
import { write } from './functions/write.ts';
import { agent as worker } from './worker.ts';

export const agent = worker.withFunctions([
  read,
  search,
  list,
  outline,
  edit,
  write,
  move,
  changes,
  undo,
  run,
  job,
  output,
  sandbox,
  more,
]);
