/**
 * Applies changes of the configuration file to a running Workcell.
 *
 * The directory is watched, because editors and `worker add` replace the file; of a link, also the one it
 * leads to. A file that agents can write is not watched at all: they would change their own limits.
 */
import { realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

import { ConfigError, type Log } from '#contract';

/** Several events belong to one save. */
const SETTLE_MS = 100;

export function watchConfig(path: string, log: Log, apply: () => Promise<void>): { close(): Promise<void> } {
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
  const watchers = [...new Set([path, realpathSync(path)])].map((end) => {
    const watcher = watch(dirname(end), (_event, name) => {
      if (name !== null && name !== basename(end)) return;
      clearTimeout(settling);
      settling = setTimeout(() => void (applying = applying.then(reload)), SETTLE_MS);
    });
    watcher.on('error', (error) => log.warn('the configuration file is no longer watched', { why: error.message }));
    return watcher;
  });
  return {
    /** A change that is being applied is applied to its end. */
    async close() {
      clearTimeout(settling);
      for (const watcher of watchers) watcher.close();
      await applying;
    },
  };
}
