/** workcell cluster config: users of the NATS server for the nodes of a cluster, with a seed file each. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { ConfigError } from '#contract';
import { UsageError, valueOption, type Command } from '../../command.ts';
import { text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printText } from '../../print.ts';

export const clusterConfig: Command = {
  name: 'cluster config',
  summary: 'Make NATS users for the nodes of a cluster: print the server’s block, write a seed file for each node.',
  details:
    'The printed block goes into the configuration file of every NATS server. Each seed file is the key of one node: move it\n' +
    'there, outside of its workspace, and start the node with --cluster-nkey. A node that is not in --doors may answer calls\n' +
    'and make none. If a seed file exists, nothing is written.',
  options: {
    nodes: valueOption('LIST', 'Names of all nodes, separated by commas.'),
    doors: valueOption('LIST', 'Nodes that call others, default all of them.'),
    'cluster-name': valueOption('NAME', 'Name of the cluster.', { default: 'default' }),
    out: valueOption('DIR', 'Directory for the seed files, default the current one.'),
  },
  examples: ['workcell cluster config --nodes door-1,host-1,host-2 --doors door-1 --out seeds'],
  maxWords: 0,

  async run({ options }) {
    const names = listed(text(options.nodes));
    if (names.length === 0) throw new UsageError('cluster config needs --nodes NAME[,NAME…]');
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new UsageError(`--nodes names ${twice} twice`);
    const doors = options.doors === undefined ? names : listed(text(options.doors));
    const stray = doors.find((name) => !names.includes(name));
    if (stray !== undefined) throw new UsageError(`--doors names ${stray}, which is not in --nodes`);
    const { makeUsers } = await import('#cluster');
    const cluster = text(options['cluster-name']) ?? 'default';
    const { block, seeds } = await makeUsers(
      cluster,
      names.map((name) => ({ name, isDoor: doors.includes(name) })),
    );

    const out = resolve(text(options.out) ?? '.');
    const files = [...seeds].map(([name, seed]) => ({ file: join(out, `${name}.nk`), seed }));
    requireNew(files.map(({ file }) => file));
    mkdirSync(out, { recursive: true });
    for (const { file, seed } of files) writeSeed(file, seed);
    printText(block);
    return EXIT.ok;
  },
};

/** Before any is written: a seed without its line in the printed block is of no use. */
function requireNew(files: readonly string[]): void {
  const there = files.filter((file) => existsSync(file));
  if (there.length === 0) return;
  throw new ConfigError(
    `${there.join(', ')} ${there.length === 1 ? 'exists' : 'exist'} and may be in use: remove it, or give --out another directory`,
  );
}

/** Never over another: a node may already use it. */
function writeSeed(file: string, seed: string): void {
  try {
    writeFileSync(file, `${seed}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new ConfigError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function listed(value: string | undefined): string[] {
  return (value ?? '').split(',').filter((part) => part !== '');
}
