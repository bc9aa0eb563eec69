/**
 * The files of a sandbox, marked in use during each operation, so that the reaper waits and a stopped sandbox ends the
 * operation.
 */
import type { FileSystem } from '#host';
import type { LiveSandbox } from './live/live-sandbox.ts';

export function inUseFileSystem(
  files: FileSystem,
  sandbox: Pick<LiveSandbox, 'using' | 'changing' | 'hold'>,
): FileSystem {
  return {
    ls: (...asked) => sandbox.using(() => files.ls(...asked)),
    stat: (...asked) => sandbox.using(() => files.stat(...asked)),
    write: (...asked) => sandbox.changing(() => files.write(...asked)),
    mkdir: (...asked) => sandbox.changing(() => files.mkdir(...asked)),
    rm: (...asked) => sandbox.changing(() => files.rm(...asked)),
    chmod: (...asked) => sandbox.changing(() => files.chmod(...asked)),
    mv: (...asked) => sandbox.changing(() => files.mv(...asked)),
    grep: (...asked) => sandbox.using(() => files.grep(...asked)),
    sed: (...asked) => sandbox.changing(() => files.sed(...asked)),
    async read(...asked) {
      const file = await sandbox.using(() => files.read(...asked));
      // Released later: the file is streamed after the call has returned.
      const release = sandbox.hold();
      return {
        ...file,
        close() {
          release();
          file.close();
        },
      };
    },
  };
}
