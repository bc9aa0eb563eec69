/** The filesystem worker with its actions, in the order the documentation shows them. */
import { cp } from './functions/cp.ts';
import { edit } from './functions/edit.ts';
import { fileStat } from './functions/file-stat.ts';
import { find } from './functions/find.ts';
import { grep } from './functions/grep.ts';
import { insert } from './functions/insert.ts';
import { ls } from './functions/ls.ts';
import { mkdir } from './functions/mkdir.ts';
import { mv } from './functions/mv.ts';
import { read } from './functions/read.ts';
import { rm } from './functions/rm.ts';
import { write } from './functions/write.ts';
import { filesystem as worker } from './worker.ts';

export const filesystem = worker.withFunctions([
  read,
  write,
  edit,
  insert,
  ls,
  grep,
  find,
  mv,
  cp,
  rm,
  mkdir,
  fileStat,
]);
