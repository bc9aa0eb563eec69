/** Move a module and correct its imports elsewhere. */
import { join } from 'node:path';

import { editFile, process, read, replace, sh } from '../ways.mjs';

const [FROM, TO] = ['lib/suggestSimilar.js', 'lib/similar/suggest.js'];
const [OLD, NEW] = ['./suggestSimilar', './similar/suggest'];
const CHECK = 'node -e "require(\'./\')" && git status --short';

export const moveModule = {
  name: 'own 1: move a module and correct its imports',
  repository: 'commander',
  async coding(call) {
    await call('move', { moves: [{ from: FROM, to: TO }] });
    await call('edit', { edits: [{ path: 'lib/*.js', old: OLD, new: NEW, all: true }] });
    await call('run', { command: CHECK });
  },
  async all(call, root) {
    await call('filesystem_mkdir', { path: join(root, 'lib/similar') });
    await call('filesystem_mv', { source: join(root, FROM), destination: join(root, TO) });
    await call('coder_update_file', { files: [replace('lib/command.js', '\\./suggestSimilar', NEW)] });
    await sh(call, CHECK);
  },
  partly: { filesystem: 'without a check' },
  async filesystem(call, root) {
    await call('create_directory', { path: join(root, 'lib/similar') });
    await call('move_file', { source: join(root, FROM), destination: join(root, TO) });
    await editFile(call, root, 'lib/command.js', [OLD, NEW]);
  },
  async commander(call, root) {
    await process(call, root, `mkdir lib/similar && git mv ${FROM} ${TO} && sed -i 's#${OLD}#${NEW}#' lib/*.js`);
    await process(call, root, CHECK);
  },
  isDone: (root) => read(root, 'lib/command.js').includes(NEW) && read(root, TO).includes('maxDistance'),
};
