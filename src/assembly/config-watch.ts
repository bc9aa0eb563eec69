/**
 * Applies changes of the configuration file to a running Workcell.
 *
 * It watches the directory, because editors and `worker add` replace the file, and for a symlink also the directory of
 * its target. A file that agents can write is not watched: they would change their own limits.
 */
import { realpathSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

import { ConfigError, type Log } from '#contract';

/** Debounce: one save raises several events. */
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
  const changed = () => {
    clearTimeout(settling);
    settling = setTimeout(() => void (applying = applying.then(reload)), SETTLE_MS);
  };
  const watchers = [...new Set([path, realpathSync(path)])].flatMap((end) => watchFile(end, log, changed) ?? []);
  return {
    /** Waits for a change that is being applied. */
    async close() {
      clearTimeout(settling);
      for (const watcher of watchers) watcher.close();
      await applying;
    },
  };
}

/**
 * Undefined when the system refuses a watch, for example when other programs hold all inotify instances of this user.
 */
function watchFile(path: string, log: Log, changed: () => void): FSWatcher | undefined {
  const warn = (error: Error) =>
    log.warn('the configuration file is not watched: changes take effect at the next start', {
      file: path,
      why: error.message,
    });
  try {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === null || name === basename(path)) changed();
    });
    return watcher.on('error', warn);
  } catch (error) {
    warn(error as Error);
    return undefined;
  }
}
