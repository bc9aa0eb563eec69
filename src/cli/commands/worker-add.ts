/** workcell worker add: a worker's default block, with comments, into the configuration file. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import type { Command } from '../command.ts';
import { withWorkerAdded } from '../config-block.ts';
import { defaultConfigPath, findWorker } from '../config-file.ts';
import { text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { availableWorkers } from '../workers.ts';

export const workerAdd: Command = {
  name: 'worker add',
  summary: 'Add a worker with its default block to the configuration file.',
  usage: '<name>',
  details: 'Comments and order of the file are kept. A running engine that watches the file starts the worker.',
  options: {
    config: {
      type: 'string',
      short: 'c',
      value: 'FILE',
      description: 'Configuration file, default $WORKCELL_CONFIG or ~/.config/workcell/config.yaml.',
    },
  },
  examples: ['workcell worker add coder', 'workcell worker add coder -c cell.yaml'],
  minWords: 1,
  maxWords: 1,

  run({ words: [name], options }) {
    const path = resolve(text(options.config) ?? defaultConfigPath());
    const def = findWorker(name!, availableWorkers);
    const changed = withWorkerAdded(readIfThere(path), def);
    if (changed === undefined) {
      process.stdout.write(`${def.name} is in ${path} already\n`);
      return Promise.resolve(EXIT.ok);
    }
    replaceFile(path, changed);
    process.stdout.write(`added ${def.name} to ${path}\n`);
    return Promise.resolve(EXIT.ok);
  },
};

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** A running engine reads the file at any moment, so it never sees half of it. */
function replaceFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { flag: 'wx' });
  renameSync(temporary, path);
}
