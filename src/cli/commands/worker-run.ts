/** workcell worker run: runs one worker on any iii engine, ours or the original. */
import { resolve } from 'node:path';

import { availableWorkers, defaultEntries, findWorker, parseCell, parseEntries, readConfigFile } from '#assembly';
import { connect } from '#client';
import { shippedCell } from '#contract';
import { version } from '#version';
import { cellOptions, parseCellOptions } from '../cell-options.ts';
import { valueOption, type Command } from '../command.ts';
import { addressOptions, engineToken, engineUrl, explainUnreachable, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { terminalLog } from '../terminal-log.ts';
import { untilSignal } from '../until-signal.ts';

export const workerRun: Command = {
  name: 'worker run',
  summary: 'Run one worker against an engine that is already up.',
  usage: '<name>',
  options: {
    config: valueOption('FILE', 'Configuration file with the worker’s block.', { short: 'c' }),
    workspace: valueOption('DIR', 'Directory the worker is limited to, default the current one.'),
    ...cellOptions,
    ...addressOptions,
  },
  examples: ['workcell worker run coder --url ws://127.0.0.1:49134'],
  minWords: 1,
  maxWords: 1,

  async run({ words: [name], options }) {
    const log = terminalLog('info');
    const def = findWorker(name!, availableWorkers);
    const file = text(options.config);
    const workspace = resolve(text(options.workspace) ?? process.cwd());
    const given = file === undefined ? undefined : readConfigFile(file);
    const cell = { ...shippedCell, ...(given !== undefined && parseCell(given)), ...parseCellOptions(options) };
    const entries = given === undefined ? [] : parseEntries(given, availableWorkers, { workspace });
    const listed = entries.find((entry) => entry.def === def);
    const { config } = listed ?? defaultEntries([def], workspace)[0]!;

    const context = await def.open(config, log, cell);
    try {
      const url = engineUrl(options);
      const connection = await connect(url, {
        name: process.env.III_WORKER_NAME ?? def.name,
        description: def.summary,
        version: def.version ?? version,
        token: engineToken(options),
        log,
      }).catch(explainUnreachable);
      connection.serve({ def, context });
      const stopped = untilSignal();
      process.stdout.write(`${def.name} ready on ${url} with ${def.functions.length} functions\n`);
      await stopped;
      connection.close();
    } finally {
      await def.close(context);
    }
    return EXIT.ok;
  },
};
