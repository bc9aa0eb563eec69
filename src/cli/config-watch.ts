/**
 * Applies changes of the configuration file to a running Workcell.
 *
 * The directory is watched, because editors and `worker add` replace the file. A file that agents can
 * write is not watched at all: they would change their own limits.
 */
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';

import { ConfigError, type Log } from '#contract';

/** Several events belong to one save. */
const SETTLE_MS = 100;

export function watchConfig(path: string, log: Log, apply: () => Promise<void>): { close(): void } {
  let settling: NodeJS.Timeout | undefined;
  let applying = Promise.resolve();
  const reload = async () => {
    try {
      await apply();
      log.info('applied the changed configuration', { file: path });
    } catch (error) {
      const why = error instanceof ConfigError ? error.message : String(error);
      log.error('kept the running configuration: the changed one is not usable', { why });
    }
  };
  const watcher = watch(dirname(path), (_event, name) => {
    if (name !== null && name !== basename(path)) return;
    clearTimeout(settling);
    settling = setTimeout(() => void (applying = applying.then(reload)), SETTLE_MS);
  });
  watcher.on('error', (error) => log.warn('the configuration file is no longer watched', { why: error.message }));
  return {
    close() {
      clearTimeout(settling);
      watcher.close();
    },
  };
}
