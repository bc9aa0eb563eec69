/** Changes of two files in one step, with a misfit at the first try. */
import { join } from 'node:path';

import { editFile, read } from '../ways.mjs';

const patchOf = (old) =>
  `*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-${old}\n+2\n*** Update File: b.txt\n@@\n-four\n+4\n*** End Patch\n`;

export const patch = {
  name: 'own 3: a patch over two files, with a misfit first',
  files: { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'four\n' },
  async coding(call) {
    await call('edit', { patch: patchOf('tow') });
    await call('edit', { patch: patchOf('two') });
  },
  async all(call) {
    await call('coder_apply_patch', { patch: patchOf('tow') });
    await call('coder_apply_patch', { patch: patchOf('two') });
  },
  async filesystem(call, root) {
    await editFile(call, root, 'a.txt', ['tow', '2']);
    await editFile(call, root, 'a.txt', ['two', '2']);
    await editFile(call, root, 'b.txt', ['four', '4']);
  },
  async commander(call, root) {
    const edit = (path, old_string, new_string) =>
      call('edit_block', { file_path: join(root, path), old_string, new_string });
    await edit('a.txt', 'tow', '2');
    await edit('a.txt', 'two', '2');
    await edit('b.txt', 'four', '4');
  },
  isDone: (root) => read(root, 'a.txt') === 'one\n2\nthree\n' && read(root, 'b.txt') === '4\n',
};
