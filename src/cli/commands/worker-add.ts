/**
 * workcell worker add: adds a worker's default block, with comments, to the configuration file.
 *
 * A name with a slash is an image for sandboxes, as operators of iii fetch one before its first use: iiidev/python.
 */
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { availableWorkers, defaultConfigPath, findWorker, readConfigFile } from '#assembly';
import { ConfigError } from '#contract';

import { valueOption, type Command } from '../command.ts';
import { withWorkerAdded } from '../config-block.ts';
import { text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { sandboxPull } from './sandbox/pull.ts';

/** Presets are named without the prefix: they can be built where no registry has them. */
const PRESET_IMAGE = /^iiidev\/(?=(?:python|node)$)/;

export const workerAdd: Command = {
  name: 'worker add',
  summary: 'Add a worker with its default block to the configuration file.',
  usage: '<name|image>',
  details:
    'Comments and order of the file are kept. A running engine that watches the file starts the worker. A name with a ' +
    'slash, such as iiidev/python, is an image of sandboxes: it is fetched or built, as `workcell sandbox pull` does.',
  options: {
    config: valueOption('FILE', 'Configuration file, default $WORKCELL_CONFIG or ~/.config/workcell/config.yaml.', {
      short: 'c',
    }),
  },
  examples: [
    'workcell worker add coder',
    'workcell worker add coder -c cell.yaml',
    'workcell worker add iiidev/python',
  ],
  minWords: 1,
  maxWords: 1,

  run(input) {
    const {
      words: [name],
      options,
    } = input;
    if (name!.includes('/')) return sandboxPull.run({ ...input, words: [name!.replace(PRESET_IMAGE, '')] });
    const path = resolve(text(options.config) ?? defaultConfigPath());
    const def = findWorker(name!, availableWorkers);
    const changed = withWorkerAdded(existsSync(path) ? readConfigFile(path) : '', def);
    if (changed === undefined) {
      process.stdout.write(`${def.name} is in ${path} already\n`);
      return Promise.resolve(EXIT.ok);
    }
    replaceFile(path, changed);
    process.stdout.write(`added ${def.name} to ${path}\n`);
    return Promise.resolve(EXIT.ok);
  },
};

/** Atomic, because a running engine may read the file at any moment. Keeps symlinks and modes. */
function replaceFile(path: string, content: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const target = existsSync(path) ? realpathSync(path) : path;
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o644;
    const temporary = `${target}.${process.pid}.tmp`;
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 });
    chmodSync(temporary, mode & 0o777);
    renameSync(temporary, target);
  } catch (error) {
    throw new ConfigError(`cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
