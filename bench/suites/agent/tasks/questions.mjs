/** bench-agent task 6: find definitions in a repository of thousands of files. */
import { join } from 'node:path';

import { process } from '../ways.mjs';

const MANAGER = 'django/db/models/manager.py';
const FUNCTIONAL = 'django/utils/functional.py';

export const questions = {
  name: 'task 6: questions on a large repository',
  repository: 'django',
  async coding(call) {
    await call('list', {});
    await call('search', { pattern: 'def get_queryset', files_only: true });
    await call('search', { pattern: 'class QuerySet\\b' });
    await call('outline', { paths: [MANAGER] });
    await call('read', { paths: [`${MANAGER}:80-120`, `${FUNCTIONAL}:1-40`] });
  },
  async all(call) {
    await call('coder_tree', { max_depth: 2 });
    await call('coder_search', { query: 'def get_queryset', search_paths: false });
    await call('coder_search', { query: 'class QuerySet\\b', regex: true, search_paths: false });
    await call('coder_search', {
      query: '^\\s*(class|def) ',
      regex: true,
      include_globs: [MANAGER],
      search_paths: false,
    });
    await call('coder_read_file', { path: MANAGER, line_from: 80, line_to: 120 });
    await call('coder_read_file', { path: FUNCTIONAL, line_from: 1, line_to: 40 });
  },
  partly: { filesystem: 'without content search' },
  async filesystem(call, root) {
    await call('list_directory', { path: join(root, 'django') });
    await call('search_files', { path: root, pattern: '**/{manager,query}.py' });
    await call('read_text_file', { path: join(root, 'django/db/models/query.py') });
    await call('read_text_file', { path: join(root, MANAGER) });
    await call('read_text_file', { path: join(root, FUNCTIONAL), head: 40 });
  },
  async commander(call, root) {
    await process(call, root, 'ls . django django/db');
    await process(call, root, "grep -rl 'def get_queryset' django");
    await process(call, root, "grep -rnE 'class QuerySet\\b' django");
    await process(call, root, `grep -nE '^ *(class|def) ' ${MANAGER}`);
    await process(call, root, `sed -n 80,120p ${MANAGER}; sed -n 1,40p ${FUNCTIONAL}`);
  },
  isDone: (_, replies) =>
    ['get_queryset', 'class QuerySet', 'class BaseManager'].every((word) => replies.join().includes(word)),
};
