/** workcell config print: the configuration that `start` would use, with every default filled in. */
import { resolve } from 'node:path';

import { stringify } from 'yaml';

import {
  availableWorkers,
  clusterConfig,
  defaultEntries,
  findConfigFile,
  parseCell,
  parseCluster,
  parseEntries,
  readConfigFile,
  withoutClusterSecrets,
} from '#assembly';
import { shippedCell } from '#contract';
import { cellOptions, parseCellOptions } from '../cell-options.ts';
import { valueOption, type Command } from '../command.ts';
import { text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printReply } from '../print.ts';

export const configPrint: Command = {
  name: 'config print',
  summary: 'Print the configuration that start would use, defaults included.',
  options: {
    config: valueOption('FILE', 'Configuration file, as for start.', { short: 'c' }),
    workspace: valueOption('DIR', 'Workspace, as for start.'),
    ...cellOptions,
    json: { type: 'boolean', description: 'Print JSON instead of YAML.' },
  },
  examples: ['workcell config print', 'workcell config print -c cell.yaml --json'],
  maxWords: 0,

  run({ options }) {
    const file = findConfigFile(text(options.config));
    const workspace = text(options.workspace);
    const given = file === undefined ? undefined : readConfigFile(file);
    const entries =
      given === undefined
        ? defaultEntries(availableWorkers, resolve(workspace ?? process.cwd()))
        : parseEntries(given, availableWorkers, { workspace: workspace && resolve(workspace) });
    const cell = { ...(given === undefined ? shippedCell : parseCell(given)), ...parseCellOptions(options) };
    const cluster = given === undefined ? clusterConfig.parse({}) : parseCluster(given);
    const shown = {
      ...cell,
      cluster: withoutClusterSecrets(cluster),
      workers: entries.map(({ def, config }) => ({ name: def.name, config })),
    };
    printReply(options, shown, () => stringify(shown));
    return Promise.resolve(EXIT.ok);
  },
};
