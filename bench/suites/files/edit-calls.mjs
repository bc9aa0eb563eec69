/**
 * The system calls that an edit cannot do without, and nothing around them: what the journal adds to these, the kernel
 * adds to any implementation that keeps the former file by a hard link and writes a line to a log.
 *
 * The replaced file is held open and closed on another thread, as coder does: otherwise the rename waits until its
 * blocks are freed, which a link would spare.
 */
import { close, closeSync, constants, fsync, linkSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const syncLater = promisify(fsync);
const O_PATH = 0o10000000;
const LINE = Buffer.alloc(546, 'x');

/** Returns a function that replaces a file in the folder. */
export function bareEdits(folder, store, { size, isSynced, isKept }) {
  if (isKept) mkdirSync(join(store, 'images'), { recursive: true });
  const log = isKept ? openSync(join(store, 'log'), 'a') : undefined;
  const content = Buffer.alloc(size, 'y');
  let count = 0;
  return async (name) => {
    const [place, temp] = [join(folder, name), join(folder, `.temp-${++count}`)];
    const fd = openSync(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
    writeSync(fd, content);
    if (isKept) linkSync(place, join(store, 'images', `${count}`));
    if (isSynced) await syncLater(fd);
    if (isKept) writeSync(log, LINE);
    const replaced = isKept ? undefined : openSync(place, O_PATH);
    renameSync(temp, place);
    closeSync(fd);
    if (isSynced) await syncFolder(folder);
    if (replaced !== undefined) setImmediate(() => close(replaced, () => {}));
  };
}

async function syncFolder(folder) {
  const fd = openSync(folder, 'r');
  await syncLater(fd);
  closeSync(fd);
}
