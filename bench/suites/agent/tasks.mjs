/**
 * The tasks: files, the way through each profile, and whether the result is right.
 *
 * A way knows what to do and reads its replies only where it needs a handle.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (root, path) => readFileSync(join(root, path), 'utf8');
const SUGGEST = 'lib/suggestSimilar.js';

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, Option } from '../esm.mjs';
test('suggests a similar command', () => {
  let said = '';
  const program = new Command().exitOverride().configureOutput({ writeErr: (text) => void (said += text) });
  program.command('install').action(() => {});
  assert.throws(() => program.parse(['instal'], { from: 'user' }));
  assert.match(said, /Did you mean install/);
});
test('options have attribute names', () => assert.equal(new Option('--dry-run').attributeName(), 'dryRun'));
`;

/** Ten thousand lines with four failures among them, as a test runner prints them. */
const NOISY = `for (let i = 1; i <= 10689; i++) console.log([2100, 4300, 6500, 8700].includes(i) ? 'not ok ' + i + ' - case ' + i : 'ok ' + i + ' - case ' + i);
console.log('# tests 10689\\n# pass 10685\\n# fail 4'); process.exitCode = 1;`;

const SERVER = `import { createServer } from 'node:http';
createServer((_, response) => { console.log('asked'); response.end('it works'); }).listen(4173, '127.0.0.1', () => console.log('ready'));`;

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const sh = (call, line) => call('shell_exec', { script: line, timeout_ms: 120_000 });
const replace = (path, pattern, replacement) => ({
  path,
  ops: [{ op: 'replace', pattern, replacement, expect_matches: 1 }],
});

export const TASKS = [
  {
    name: 'T1 bug, tests',
    repository: 'commander',
    files: (copy) => ({
      'test/commander.test.mjs': TEST,
      [SUGGEST]: read(copy, SUGGEST).replace('maxDistance = 3', 'maxDistance = 0'),
    }),
    async coding(call) {
      await call('run', { command: 'node --test' });
      await call('search', { pattern: 'maxDistance', path: SUGGEST });
      await call('edit', { edits: [{ path: SUGGEST, old: 'maxDistance = 0', new: 'maxDistance = 3' }] });
      await call('run', { command: 'node --test' });
    },
    async all(call) {
      await sh(call, 'node --test');
      await call('coder_search', { query: 'maxDistance', path: 'lib', search_paths: false });
      await call('coder_update_file', { files: [replace(SUGGEST, 'maxDistance = 0', 'maxDistance = 3')] });
      await sh(call, 'node --test');
    },
    isDone: (root) => read(root, SUGGEST).includes('maxDistance = 3'),
  },
  {
    name: 'T2 rename in code and docs',
    repository: 'commander',
    async coding(call) {
      await call('search', { pattern: 'outputHelp', files_only: true });
      await call('edit', { edits: [{ path: '**/*', old: 'outputHelp', new: 'printHelp', all: true }] });
      await call('run', { command: 'node -e "require(\'./\').program.printHelp" && git diff --stat | tail -1' });
    },
    async all(call) {
      await call('coder_search', { query: 'outputHelp', search_paths: false });
      const paths = ['lib/command.js', 'typings/index.d.ts', 'Readme.md'];
      const ops = [{ op: 'replace', pattern: 'outputHelp', replacement: 'printHelp' }];
      await call('coder_update_file', { files: paths.map((path) => ({ path, ops })) });
      await sh(call, 'node -e "require(\'./\').program.printHelp" && git diff --stat | tail -1');
    },
    isDone: (root) =>
      ['lib/command.js', 'typings/index.d.ts'].every((path) => !read(root, path).includes('outputHelp')),
  },
  {
    name: 'T3 feature with a test',
    repository: 'commander',
    files: { 'test/commander.test.mjs': TEST },
    async coding(call) {
      await call('outline', { paths: ['lib/option.js'] });
      await call('search', { pattern: 'hideHelp', path: 'lib/option.js', context: 8 });
      await call('edit', {
        edits: [
          {
            path: 'lib/option.js',
            old: '  hideHelp(hide = true) {',
            new: `  isShown() {\n    return !this.hidden;\n  }\n\n  hideHelp(hide = true) {`,
          },
        ],
      });
      await call('write', { files: [{ path: 'test/shown.test.mjs', content: SHOWN }] });
      await call('run', { command: 'node --test 2>&1 | tail -12' });
    },
    async all(call) {
      await call('coder_search', { query: 'hideHelp', path: 'lib', search_paths: false, context_lines: 8 });
      await call('coder_update_file', {
        files: [
          replace(
            'lib/option.js',
            '  hideHelp\\(hide = true\\) \\{',
            '  isShown() {\n    return !this.hidden;\n  }\n\n  hideHelp(hide = true) {',
          ),
        ],
      });
      await call('coder_create_file', { files: [{ path: 'test/shown.test.mjs', content: SHOWN }] });
      await sh(call, 'node --test 2>&1 | tail -12');
    },
    isDone: (root) =>
      read(root, 'lib/option.js').includes('isShown() {') && existsSync(join(root, 'test/shown.test.mjs')),
  },
  {
    name: 'T4 dev server',
    files: { 'server.mjs': SERVER },
    async coding(call) {
      await call('run', { command: 'node server.mjs', background: true, until: { port: 4173 } });
      await call('run', { command: 'curl -s localhost:4173 > answer.txt; cat answer.txt' });
      await call('job', { id: 'j1', stop: true });
    },
    async all(call) {
      const started = await call('shell_exec_bg', { script: 'node server.mjs' });
      const job_id = /job_id: (\S+)/.exec(started)?.[1];
      await call('shell_output', { job_id, until: { port: 4173 } });
      await sh(call, 'curl -s localhost:4173 > answer.txt; cat answer.txt');
      await call('shell_kill', { job_id });
    },
    isDone: (root) => read(root, 'answer.txt') === 'it works',
  },
  {
    name: 'T5 untrusted script',
    files: {
      'job.py': "open('out.txt', 'w').write(open('in.txt').read().upper())\nprint('done')\n",
      'in.txt': 'hello\n',
    },
    async coding(call) {
      await call('sandbox', {
        image: 'python',
        command: 'python3 job.py',
        files: ['job.py', 'in.txt'],
        bring: ['out.txt'],
      });
    },
    async all(call, root) {
      const made = await call('sandbox_create', { image: 'python' });
      const sandbox_id = /sandbox_id: (\S+)/.exec(made)?.[1];
      for (const path of ['job.py', 'in.txt']) {
        await call('sandbox_fs_write', { sandbox_id, path: `/tmp/${path}`, content: read(root, path) });
      }
      await call('sandbox_exec', { sandbox_id, cmd: 'python3', args: ['job.py'], workdir: '/tmp' });
      const out = await call('sandbox_fs_read', { sandbox_id, path: '/tmp/out.txt' });
      await call('coder_create_file', { files: [{ path: 'out.txt', content: out.split('content:\n')[1] }] });
      await call('sandbox_stop', { sandbox_id });
    },
    isDone: (root) => read(root, 'out.txt') === 'HELLO\n',
  },
  {
    name: 'T6 questions on a large repository',
    repository: 'django',
    async coding(call) {
      await call('list', {});
      await call('search', { pattern: 'def get_queryset', files_only: true });
      await call('search', { pattern: 'class QuerySet\\b' });
      await call('outline', { paths: ['django/db/models/manager.py'] });
      await call('read', { paths: ['django/db/models/manager.py:80-120', 'django/utils/functional.py:1-40'] });
    },
    async all(call) {
      await call('coder_tree', { max_depth: 2 });
      await call('coder_search', { query: 'def get_queryset', search_paths: false });
      await call('coder_search', { query: 'class QuerySet\\b', regex: true, search_paths: false });
      await call('coder_search', {
        query: '^\\s*(class|def) ',
        regex: true,
        include_globs: ['django/db/models/manager.py'],
        search_paths: false,
      });
      await call('coder_read_file', { path: 'django/db/models/manager.py', line_from: 80, line_to: 120 });
      await call('coder_read_file', { path: 'django/utils/functional.py', line_from: 1, line_to: 40 });
    },
    isDone: (_, replies) =>
      ['get_queryset', 'class QuerySet', 'class BaseManager'].every((word) => replies.join().includes(word)),
  },
  {
    name: 'T7 wrong edit, go back',
    repository: 'commander',
    files: { 'notes.md': 'work in progress\n' },
    async coding(call) {
      await call('edit', { edits: [{ path: 'lib/*.js', old: 'const', new: 'let', all: true }] });
      await call('changes', {});
      await call('undo', {});
      await call('run', { command: 'git status --short' });
    },
    async all(call) {
      const paths = ['lib/command.js', 'lib/option.js', 'lib/help.js'];
      const ops = [{ op: 'replace', pattern: 'const', replacement: 'let' }];
      await call('coder_update_file', { files: paths.map((path) => ({ path, ops })) });
      await call('coder_undo', {});
      await sh(call, 'git status --short');
    },
    isDone: (root) => !/^let /m.test(read(root, 'lib/command.js')),
  },
  {
    name: 'T8 10,000 lines of output',
    files: { 'noisy.mjs': NOISY },
    coding: (call) => call('run', { command: 'node noisy.mjs' }),
    all: (call) => sh(call, 'node noisy.mjs | grep -v "^ok"'),
    isDone: (_, [last]) => [2100, 4300, 6500, 8700].every((number) => last.includes(`not ok ${number}`)),
  },
  {
    name: 'own 1: move a module and mend its imports',
    repository: 'commander',
    async coding(call) {
      await call('move', { moves: [{ from: SUGGEST, to: 'lib/similar/suggest.js' }] });
      await call('edit', {
        edits: [{ path: 'lib/*.js', old: './suggestSimilar', new: './similar/suggest', all: true }],
      });
      await call('run', { command: 'node -e "require(\'./\')" && git status --short' });
    },
    async all(call, root) {
      await call('filesystem_mkdir', { path: join(root, 'lib/similar') });
      await call('filesystem_mv', { source: join(root, SUGGEST), destination: join(root, 'lib/similar/suggest.js') });
      await call('coder_update_file', {
        files: [replace('lib/command.js', '\\./suggestSimilar', './similar/suggest')],
      });
      await sh(call, 'node -e "require(\'./\')" && git status --short');
    },
    isDone: (root) => read(root, 'lib/command.js').includes('./similar/suggest'),
  },
  {
    name: 'own 2: a program that asks',
    async coding(call) {
      await call('run', { command: 'read name; echo "hello $name" | tee said.txt', background: true });
      await call('job', { id: 'j1', input: 'you\n' });
    },
    async all(call) {
      const started = await call('shell_exec_bg', {
        script: 'read name; echo "hello $name" | tee said.txt',
        input: true,
      });
      const job_id = /job_id: (\S+)/.exec(started)?.[1];
      await call('shell_input', { job_id, text: 'you\n' });
      await call('shell_output', { job_id, until: { exit: true } });
    },
    files: { 'README.md': '# x\n' },
    isDone: (root) => read(root, 'said.txt') === 'hello you\n',
  },
  {
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
    isDone: (root) => read(root, 'a.txt') === 'one\n2\nthree\n' && read(root, 'b.txt') === '4\n',
  },
  {
    name: 'own 4: look at an image and at six parts of files',
    repository: 'commander',
    files: { 'dot.png': DOT },
    async coding(call) {
      await call('read', {
        paths: ['dot.png', 'lib/option.js:1-30', 'lib/help.js:1-30', 'lib/error.js', 'index.js', 'esm.mjs'],
      });
    },
    async all(call) {
      await call('coder_read_file', { path: 'dot.png' });
      for (const path of ['lib/option.js', 'lib/help.js'])
        await call('coder_read_file', { path, line_from: 1, line_to: 30 });
      for (const path of ['lib/error.js', 'index.js', 'esm.mjs']) await call('coder_read_file', { path });
    },
    isDone: (_, replies) =>
      ['(image)', 'class Option', 'CommanderError'].every((word) => replies.join().includes(word)),
  },
];

const SHOWN = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Option } from '../esm.mjs';
test('an option is shown until it is hidden', () => {
  assert.equal(new Option('-x').isShown(), true);
  assert.equal(new Option('-x').hideHelp().isShown(), false);
});
`;

function patchOf(old) {
  return `*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-${old}\n+2\n*** Update File: b.txt\n@@\n-four\n+4\n*** End Patch\n`;
}
