/** The tasks in the order of the report: first the eight that the goals are about, then ours. */
import { askingProgram } from './tasks/asking-program.mjs';
import { bug } from './tasks/bug.mjs';
import { devServer } from './tasks/dev-server.mjs';
import { feature } from './tasks/feature.mjs';
import { goBack } from './tasks/go-back.mjs';
import { imageAndParts } from './tasks/image-and-parts.mjs';
import { longOutput } from './tasks/long-output.mjs';
import { moveModule } from './tasks/move-module.mjs';
import { patch } from './tasks/patch.mjs';
import { questions } from './tasks/questions.mjs';
import { rename } from './tasks/rename.mjs';
import { untrustedScript } from './tasks/untrusted-script.mjs';

/**
 * A task: the repository and files that it begins with, a script for each server that can do it, and whether the result is
 * right. A script knows its steps and reads replies only for handles. `partly` names steps that a server's script omits.
 */
export const EIGHT = [bug, rename, feature, devServer, untrustedScript, questions, goBack, longOutput];
export const TASKS = [...EIGHT, moveModule, askingProgram, patch, imageAndParts];
