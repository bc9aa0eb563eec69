/** All commands, in the order the help shows them. */
import type { Command } from '../command.ts';
import { call } from './call.ts';
import { configPrint } from './config-print.ts';
import { doctor } from './doctor.ts';
import { functions } from './functions.ts';
import { start } from './start.ts';
import { workerAdd } from './worker-add.ts';
import { workerRun } from './worker-run.ts';

export const commands: readonly Command[] = [start, call, functions, workerRun, workerAdd, configPrint, doctor];
