/** The iii-sandbox worker with its functions, in the order the documentation shows them. */
import { list as catalogList } from './functions/catalog/list.ts';
import { create } from './functions/create.ts';
import { attach } from './functions/attach.ts';
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
import { input } from './functions/input.ts';
import { jobs } from './functions/jobs.ts';
import { kill } from './functions/kill.ts';
import { list } from './functions/list.ts';
import { output } from './functions/output.ts';
import { run } from './functions/run.ts';
import { status } from './functions/status.ts';
import { stop } from './functions/stop.ts';
import { watch } from './functions/watch.ts';
import { sandbox as worker } from './worker.ts';

const lifecycle = [catalogList, create, exec, run, list, stop, watch] as const;
const background = [execBg, status, output, input, attach, kill, jobs] as const;
const files = [ls, stat, read, write, mkdir, rm, chmod, mv, grep, sed] as const;

/** Exported for the command line of a node. */
export { onFleet } from './fleet/index.ts';
export const sandbox = worker.withFunctions([...lifecycle, ...background, ...files]);
export { ArchiveError, isFreeForTree, unpackTree, type UnpackedTree } from '#sandbox/archives';
export type { Probe, SandboxBackend } from './backends/backend.ts';
export type { BackendDef, Need } from './backends/definition.ts';
export { BACKENDS } from './backends/list.ts';
export { missingFor } from './backends/needs.ts';
export { BackendChoice } from './choose-backend.ts';
export type { SandboxConfig } from './config.ts';
export {
  defaultCacheDir,
  ImageError,
  openImages,
  progressText,
  type ImageProgress,
  type ImageRow,
  type Images,
  type Outlook,
  type PruneReport,
} from '#sandbox/images';
export type { Isolation } from './isolation.ts';
export type { Answer, Ladder } from './ladder/ladder.ts';
export { openLadder } from './ladder/open-ladder.ts';
export { worthHaving, worthSettingUp } from './ladder/setup-advice.ts';
export { openLimiter, type Limiter } from './limits/limits.ts';
