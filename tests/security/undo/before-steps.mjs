/**
 * Calls back before each system call of this process that changes a file or the store, with the name of the call.
 *
 * Those of `node:fs`, and those that `system-calls.ts` makes without it, which a patch of `node:fs` does not see. The
 * modules that are tested must be imported already: `koffi` opens files of its own.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

import { systemCalls } from '../../../dist/host/system/system-calls.js';

const OF_FS = [
  ...['linkSync', 'renameSync', 'unlinkSync', 'writeSync', 'openSync', 'mkdirSync', 'rmdirSync', 'symlinkSync'],
  ...['writeFileSync', 'chmodSync', 'fchmodSync', 'chownSync', 'fchownSync', 'futimesSync'],
];

export function beforeEachStep(callBack) {
  hook(fs, OF_FS, callBack);
  hook(fs.promises, ['copyFile', 'writeFile'], callBack);
  syncBuiltinESMExports();
  const calls = systemCalls();
  if (!calls) return;
  hook(calls, ['linkAt'], callBack);
  hook(calls.attributes, ['set', 'remove'], callBack);
}

function hook(owner, names, callBack) {
  for (const name of names) {
    const original = owner[name];
    owner[name] = (...values) => {
      // Opening an existing file changes nothing, so it is not counted.
      if (name !== 'openSync' || (values[1] & fs.constants.O_CREAT) !== 0) callBack(name);
      return original.apply(owner, values);
    };
  }
}
