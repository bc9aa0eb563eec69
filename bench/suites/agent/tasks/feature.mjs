/** bench-agent task 3: a method with a test of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { editFile, process, read, replace, sh } from '../ways.mjs';
import { COMMANDER_TEST } from './commander-test.mjs';

const OPTION = 'lib/option.js';
const BEFORE = '  hideHelp(hide = true) {';
const WITH = `  isShown() {\n    return !this.hidden;\n  }\n\n${BEFORE}`;
const TEST = 'test/shown.test.mjs';
const SHOWN = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Option } from '../esm.mjs';
test('an option is shown until it is hidden', () => {
  assert.equal(new Option('-x').isShown(), true);
  assert.equal(new Option('-x').hideHelp().isShown(), false);
});
`;

export const feature = {
  name: 'task 3: feature with a test',
  repository: 'commander',
  files: { 'test/commander.test.mjs': COMMANDER_TEST },
  async coding(call) {
    await call('outline', { paths: [OPTION] });
    await call('search', { pattern: 'hideHelp', path: OPTION, context: 8 });
    await call('edit', { edits: [{ path: OPTION, old: BEFORE, new: WITH }] });
    await call('write', { files: [{ path: TEST, content: SHOWN }] });
    await call('run', { command: 'node --test 2>&1 | tail -12' });
  },
  async all(call) {
    await call('coder_search', { query: 'hideHelp', path: 'lib', search_paths: false, context_lines: 8 });
    const edit = replace(OPTION, BEFORE.replaceAll(/[(){}]/g, String.raw`\$&`), WITH);
    await call('coder_update_file', { files: [edit] });
    await call('coder_create_file', { files: [{ path: TEST, content: SHOWN }] });
    await sh(call, 'node --test 2>&1 | tail -12');
  },
  partly: { filesystem: 'without tests' },
  async filesystem(call, root) {
    await call('read_text_file', { path: join(root, OPTION) });
    await editFile(call, root, OPTION, [BEFORE, WITH]);
    await call('write_file', { path: join(root, TEST), content: SHOWN });
  },
  async commander(call, root) {
    await process(call, root, `grep -n "^  [a-zA-Z]*(.*{" ${OPTION}; grep -n -C 8 hideHelp ${OPTION}`);
    await call('edit_block', { file_path: join(root, OPTION), old_string: BEFORE, new_string: WITH });
    await call('write_file', { path: join(root, TEST), content: SHOWN });
    await process(call, root, 'node --test 2>&1 | tail -12');
  },
  isDone: (root) => read(root, OPTION).includes('isShown() {') && existsSync(join(root, TEST)),
};
