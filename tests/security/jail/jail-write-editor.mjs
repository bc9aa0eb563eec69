/**
 * Edits files for ever, until it is killed. Says `ready` when it begins.
 *
 * Argument: the workspace. Each file is given
 * another length and letter every time, closed by its length, so that half a file is seen as such.
 */
import { JailChanges } from '../../../dist/host/changes/jail-changes.js';
import { openJail } from '../../../dist/host/jail/jail.js';

const [workspace] = process.argv.slice(2);
const changes = new JailChanges(openJail(workspace), { isSynced: true });
const { signal } = new AbortController();
process.send?.('ready');

for (let edit = 0; ; edit++) {
  const path = `d${edit % 3}/f${edit % 7}.txt`;
  const length = 1 + Math.floor(Math.random() * 300_000);
  const letter = String.fromCharCode(97 + (edit % 26));
  await changes.onTarget(path, signal, (target) =>
    changes.write(target, Buffer.from(`${letter.repeat(length)}\n${length}\n`), { parents: true }),
  );
}
