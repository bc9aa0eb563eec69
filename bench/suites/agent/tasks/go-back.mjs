/** bench-agent task 7: an edit was wrong; take it back, and keep the work from before. */
import { process, read, sh } from '../ways.mjs';

const PATHS = ['lib/command.js', 'lib/option.js', 'lib/help.js'];
const MORE = '\nNot committed.\n';

export const goBack = {
  name: 'task 7: wrong edit, go back',
  repository: 'commander',
  files: { 'notes.md': 'work in progress\n' },
  /** Work from before that is in no commit. */
  uncommitted: (copy) => ({ 'lib/help.js': `${read(copy, 'lib/help.js')}// later\n`, 'Readme.md': MORE }),
  async coding(call) {
    await call('edit', { edits: [{ path: 'lib/*.js', old: 'const', new: 'let', all: true }] });
    await call('changes', {});
    await call('undo', {});
    await call('run', { command: 'git status --short' });
  },
  async all(call) {
    const ops = [{ op: 'replace', pattern: 'const', replacement: 'let' }];
    await call('coder_update_file', { files: PATHS.map((path) => ({ path, ops })) });
    await call('coder_undo', {});
    await sh(call, 'git status --short');
  },
  async commander(call, root) {
    // The agent has to think of a copy before it edits; git would take the earlier work away too.
    await process(
      call,
      root,
      'mkdir /tmp/before-$$ && cp lib/*.js /tmp/before-$$ && sed -i s/const/let/g lib/*.js; echo /tmp/before-$$',
    );
    await process(call, root, 'git status --short; cp /tmp/before-*/*.js lib; rm -r /tmp/before-*');
    await process(call, root, 'git status --short');
  },
  isDone: (root) =>
    !/^let /m.test(read(root, 'lib/command.js')) &&
    read(root, 'lib/help.js').endsWith('// later\n') &&
    read(root, 'Readme.md') === MORE,
};
