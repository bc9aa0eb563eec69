/** bench-agent task 1: a test fails; find the mistake, correct it, run the tests. */
import { join } from 'node:path';

import { editFile, process, read, replace, sh } from '../ways.mjs';
import { COMMANDER_TEST } from './commander-test.mjs';

const SUGGEST = 'lib/suggestSimilar.js';
const [WRONG, RIGHT] = ['maxDistance = 0', 'maxDistance = 3'];

export const bug = {
  name: 'task 1: bug, tests',
  repository: 'commander',
  files: (copy) => ({
    'test/commander.test.mjs': COMMANDER_TEST,
    [SUGGEST]: read(copy, SUGGEST).replace(RIGHT, WRONG),
  }),
  async coding(call) {
    await call('run', { command: 'node --test' });
    await call('search', { pattern: 'maxDistance', path: SUGGEST });
    await call('edit', { edits: [{ path: SUGGEST, old: WRONG, new: RIGHT }] });
    await call('run', { command: 'node --test' });
  },
  async all(call) {
    await sh(call, 'node --test');
    await call('coder_search', { query: 'maxDistance', path: 'lib', search_paths: false });
    await call('coder_update_file', { files: [replace(SUGGEST, WRONG, RIGHT)] });
    await sh(call, 'node --test');
  },
  partly: { filesystem: 'without tests' },
  async filesystem(call, root) {
    await call('search_files', { path: root, pattern: '**/*uggest*' });
    await call('read_text_file', { path: join(root, SUGGEST) });
    await editFile(call, root, SUGGEST, [WRONG, RIGHT]);
  },
  async commander(call, root) {
    await process(call, root, 'node --test 2>&1 | tail -60');
    await process(call, root, `grep -n maxDistance ${SUGGEST}`);
    await call('edit_block', { file_path: join(root, SUGGEST), old_string: WRONG, new_string: RIGHT });
    await process(call, root, 'node --test 2>&1 | tail -12');
  },
  isDone: (root) => read(root, SUGGEST).includes(RIGHT),
};
