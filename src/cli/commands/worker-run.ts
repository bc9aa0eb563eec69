/** workcell worker run: one worker on any iii engine, ours or the original. */
import { resolve } from 'node:path';

import { connect } from '#client';
import type { Command } from '../command.ts';
import { defaultEntries, findWorker, parseEntries, readConfigFile } from '../config-file.ts';
import { addressOptions, engineToken, engineUrl, explainUnreachable, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { terminalLog } from '../terminal-log.ts';
import { untilSignal } from '../until-signal.ts';
import { version } from '../version.ts';
import { availableWorkers } from '../workers.ts';

export const workerRun: Command = {
  name: 'worker run',
  aliases: ['worker start'],
  summary: 'Run one worker against an engine that is already up.',
  usage: '<name>',
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', description: 'Configuration file with the worker’s block.' },
    workspace: {
      type: 'string',
      value: 'DIR',
      description: 'Directory the worker is fenced into, default the current one.',
    },
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
    const entries =
      file === undefined
        ? defaultEntries([def], workspace)
        : parseEntries(readConfigFile(file), availableWorkers, { workspace });
    const config = entries.find((entry) => entry.def === def)?.config ?? defaultEntries([def], workspace)[0]!.config;

    const context = await def.open(config, log);
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
