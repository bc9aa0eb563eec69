/** bench-agent task 2: rename a method in code, types and documentation. */
import { join } from 'node:path';

import { editFile, process, read, sh } from '../ways.mjs';

const [OLD, NEW] = ['outputHelp', 'printHelp'];
const PATHS = ['lib/command.js', 'typings/index.d.ts', 'Readme.md'];
const CHECK = `node -e "require('./').program.${NEW}" && git diff --stat | tail -1`;

export const rename = {
  name: 'task 2: rename in code and docs',
  repository: 'commander',
  async coding(call) {
    await call('search', { pattern: OLD, files_only: true });
    await call('edit', { edits: [{ path: '**/*', old: OLD, new: NEW, all: true }] });
    await call('run', { command: CHECK });
  },
  async all(call) {
    await call('coder_search', { query: OLD, search_paths: false });
    const ops = [{ op: 'replace', pattern: OLD, replacement: NEW }];
    await call('coder_update_file', { files: PATHS.map((path) => ({ path, ops })) });
    await sh(call, CHECK);
  },
  partly: { filesystem: 'without tests' },
  async filesystem(call, root) {
    // It searches names only, so the contents have to be read.
    await call('search_files', { path: root, pattern: '**/*.{js,ts,md}' });
    const paths = [...PATHS, 'lib/help.js', 'lib/option.js', 'lib/argument.js', 'lib/error.js', 'index.js'];
    await call('read_multiple_files', { paths: paths.map((path) => join(root, path)) });
    for (const path of PATHS) {
      const count = read(root, path).split(OLD).length - 1;
      await editFile(call, root, path, ...Array.from({ length: count }, () => [OLD, NEW]));
    }
  },
  async commander(call, root) {
    await process(call, root, `grep -rlI ${OLD} . --exclude-dir=.git`);
    await process(call, root, `grep -rlI ${OLD} . --exclude-dir=.git | xargs sed -i s/${OLD}/${NEW}/g`);
    await process(call, root, CHECK);
  },
  isDone: (root) => PATHS.every((path) => !read(root, path).includes(OLD)),
};
