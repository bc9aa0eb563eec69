/** All commands, in the order the help shows them. */
import type { Command } from '../command.ts';
import { call } from './call.ts';
import { configPrint } from './config-print.ts';
import { doctor } from './doctor.ts';
import { exec } from './exec.ts';
import { functions } from './functions.ts';
import { jobsKill } from './jobs-kill.ts';
import { jobsList } from './jobs-list.ts';
import { jobsStatus } from './jobs-status.ts';
import { mcp } from './mcp.ts';
import { sandboxCreate } from './sandbox-create.ts';
import { sandboxDownload } from './sandbox-download.ts';
import { sandboxExec } from './sandbox-exec.ts';
import { sandboxImages } from './sandbox-images.ts';
import { sandboxImport } from './sandbox-import.ts';
import { sandboxList } from './sandbox-list.ts';
import { sandboxPrune } from './sandbox-prune.ts';
import { sandboxPull } from './sandbox-pull.ts';
import { sandboxRun } from './sandbox-run.ts';
import { sandboxStop } from './sandbox-stop.ts';
import { sandboxUpload } from './sandbox-upload.ts';
import { setup } from './setup.ts';
import { start } from './start.ts';
import { workerAdd } from './worker-add.ts';
import { workerRun } from './worker-run.ts';

export const commands: readonly Command[] = [
  start,
  mcp,
  call,
  functions,
  exec,
  jobsList,
  jobsStatus,
  jobsKill,
  sandboxRun,
  sandboxCreate,
  sandboxExec,
  sandboxList,
  sandboxStop,
  sandboxUpload,
  sandboxDownload,
  sandboxImages,
  sandboxPull,
  sandboxImport,
  sandboxPrune,
  workerRun,
  workerAdd,
  configPrint,
  doctor,
  setup,
];
