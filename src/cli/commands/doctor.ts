/** workcell doctor: checks this host, each line with its fix. */
import { existsSync } from 'node:fs';

import { findConfigFile, parseCluster, readConfigFile } from '#assembly';
import { keptAttributes } from '#host';
import { coder } from '#workers/coder';
import { defaultCacheDir } from '#workers/sandbox';
import { clusterOptions, parseClusterOptions } from '../cluster/cluster-options.ts';
import { valueOption, type Command, type CommandInput } from '../command.ts';
import { checkCluster } from '../doctor/check-cluster.ts';
import { checkEngine } from '../doctor/check-engine.ts';
import {
  checkChanges,
  checkEdits,
  checkFence,
  checkJail,
  checkJobs,
  checkNode,
  checkPlatform,
  checkSearch,
} from '../doctor/check-host.ts';
import { checkImages } from '../doctor/check-images.ts';
import { checkIsolation } from '../doctor/check-isolation.ts';
import { checkCache, checkLimits, checkPackages, checkUserNamespaces } from '../doctor/check-sandbox-host.ts';
import type { Finding } from '../doctor/finding.ts';
import { addressOptions, engineToken, engineUrl, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { blockOf, sandboxConfig } from '../sandbox/image-cache.ts';
import { interruptible } from '../interruptible.ts';
import { clearLine, showLine } from '../live-line.ts';
import { printReply } from '../print.ts';
import type { Table } from '../render.ts';

/** Longest detail in a line; the JSON output has all of it. */
const DETAIL_CHARS = 120;

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this host: Node, the path jail, jobs, isolation of sandboxes, the engine’s port, the cluster.',
  details:
    'An isolation rung counts as working when a machine was started on it and answered. Verdicts are\n' +
    'cached, a slow failure for a day: --fresh tries every rung again. Emulation, which may take a minute, is skipped\n' +
    'where something stronger works and --fresh is not given. The exit code is 1 only if Workcell cannot run at all.',
  options: {
    fresh: { type: 'boolean', description: 'Try every isolation rung again.' },
    config: valueOption('FILE', 'Configuration file, as for start.', { short: 'c' }),
    json: { type: 'boolean', description: 'Print the findings as JSON, at full length.' },
    ...clusterOptions,
    ...addressOptions,
  },
  examples: ['workcell doctor', 'workcell doctor --fresh'],
  maxWords: 0,

  async run({ options }) {
    const config = readConfig(text(options.config));
    const cluster = await clusterSettings(options);
    return interruptible(async (signal) => {
      const findings = [
        checkNode(),
        checkPlatform(),
        checkJail(),
        checkEdits(keptAttributes(existsSync(config.coder.base_path) ? config.coder.base_path : '.')),
        await checkJobs(),
        await checkFence(),
        await checkChanges(),
        checkSearch(config.coder),
        await checkEngine(engineUrl(options), engineToken(options)),
        await checkCluster(cluster),
        ...(await checkIsolation(config.sandbox, {
          signal,
          isFresh: options.fresh === true,
          onTry: (rung) => showLine(`trying ${rung}`),
        })),
        await checkImages(config.sandbox, signal),
        checkLimits(),
        await checkUserNamespaces(),
        checkPackages(),
        checkCache(config.sandbox.cache_dir ?? defaultCacheDir()),
      ];
      clearLine();
      printReply(options, findings, () => asTable(findings));
      return findings.some(({ status }) => status === 'fail') ? EXIT.failed : EXIT.ok;
    });
  },
};

function clusterSettings(options: CommandInput['options']) {
  const file = findConfigFile(text(options.config));
  return parseClusterOptions(options, { file: file === undefined ? undefined : parseCluster(readConfigFile(file)) });
}

function readConfig(named: string | undefined) {
  return { coder: coder.config.parse(blockOf(coder, named) ?? {}), sandbox: sandboxConfig(named) };
}

function asTable(findings: readonly Finding[]): Table {
  const rows = findings.map(({ status, check, detail, fix }) => [status, check, shortened(detail), fix]);
  return { head: ['STATUS', 'CHECK', 'FOUND', 'FIX'], rows };
}

/** Keeps the end, which has the duration. */
function shortened(detail: string): string {
  const end = /( \([^()]*\))?$/.exec(detail)![0];
  const room = DETAIL_CHARS - end.length;
  return detail.length <= DETAIL_CHARS ? detail : `${detail.slice(0, room - 1)}…${end}`;
}
