/** The shell worker with its functions, in the order the documentation shows them. */
import { execBg } from './functions/exec-bg.ts';
import { exec } from './functions/exec.ts';
import { chmod } from './functions/fs/chmod.ts';
import { grep } from './functions/fs/grep.ts';
import { ls } from './functions/fs/ls.ts';
import { mkdir } from './functions/fs/mkdir.ts';
import { mv } from './functions/fs/mv.ts';
import { read } from './functions/fs/read.ts';
import { rm } from './functions/fs/rm.ts';
import { sed } from './functions/fs/sed.ts';
import { stat } from './functions/fs/stat.ts';
import { write } from './functions/fs/write.ts';
import { attach } from './functions/attach.ts';
import { input } from './functions/input.ts';
import { kill } from './functions/kill.ts';
import { list } from './functions/list.ts';
import { output } from './functions/output.ts';
import { status } from './functions/status.ts';
import { watch } from './functions/watch.ts';
import { shell as worker } from './worker.ts';

export type { ShellConfig } from './config.ts';
export { explainCommand } from './policy/explain-command.ts';
export { probeFence } from './probe-fence.ts';

export const shell = worker.withFunctions([
  exec,
  execBg,
  status,
  output,
  input,
  attach,
  kill,
  list,
  watch,
  ls,
  stat,
  read,
  write,
  mkdir,
  rm,
  chmod,
  mv,
  grep,
  sed,
]);
