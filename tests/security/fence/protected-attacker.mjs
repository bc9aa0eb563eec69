/**
 * Tries to get at protected files through every file function of every worker, and prints the outcomes as JSON.
 *
 * The same calls go to two workspaces that differ only in the protected files: the second does not have them.
 * An answer that differs between them is a leak. Runs on the build, so that it can run as another user.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { createWorkcell } from '../../../dist/library/index.js';

/** `every`: of the attacks on a path, makes every n-th, starting at another offset for each path. */
const [home, every = 1] = process.argv.slice(2);
const SECRET = 'SECRET';

/** Protected paths of the first workspace, which are missing in the second. */
const SECRETS = {
  '.env': SECRET,
  '.env.local': SECRET,
  'app/.env': SECRET,
  'app/id.pem': SECRET,
  'server.key': SECRET,
  'secrets/deep/x.txt': SECRET,
  'folder.key/inner': SECRET,
};
/** A symlink with a protected name is protected, though it points to an ordinary file. */
const NAMED = 'app/.env.production';
const ORDINARY = {
  'app/main.txt': 'plain',
  'secrets/deep/': '',
  '.env.example': 'plain',
  '.ENV': 'plain',
  env: 'plain',
  'app.env': 'plain',
};
const LINKS = {
  link: '.env',
  'app/up': '../.env',
  dirlink: 'app',
  secretlink: 'secrets/deep',
  keylink: 'folder.key',
};

function makeTree(root, hasSecrets) {
  for (const [name, content] of Object.entries({ ...ORDINARY, ...(hasSecrets && SECRETS) })) {
    mkdirSync(name.endsWith('/') ? join(root, name) : dirname(join(root, name)), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(join(root, name), content);
  }
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(root, name));
  symlinkSync(join(root, '.env'), join(root, 'abslink'));
  if (hasSecrets) symlinkSync('main.txt', join(root, NAMED));
}

const TARGETS = [...Object.keys(SECRETS), NAMED, 'folder.key'];
const THROUGH = [
  'link',
  'abslink',
  'app/up',
  'dirlink/.env',
  'secretlink/x.txt',
  'keylink/inner',
  'keylink',
  'dirlink/up',
];

/** Spellings of one path. */
const spellings = (path) => [
  path,
  `./${path}`,
  `app/../${path}`,
  `dirlink/../${path}`,
  `.//${path}`,
  `${path}/`,
  `${path}/.`,
  `${path}/x`,
  `${path}/../${path.split('/').at(-1)}`,
];

const PATHS = [...TARGETS.flatMap(spellings), ...THROUGH];
const absolute = (root, path) => [`${root}/${path}`, `/proc/self/root${root}/${path}`];

/** The calls on a path, by worker; `path` is in the worker's own form. */
const CODER = {
  'read-file': (path) => ({ path }),
  'update-file': (path) => ({ files: [{ path, ops: [{ op: 'insert', at_line: 1, content: 'x' }] }] }),
  'create-file': (path) => ({ files: [{ path, content: 'x', overwrite: true }] }),
  'delete-file': (path) => ({ paths: [path], recursive: true }),
  'apply-patch': (path) => patched(`*** Update File: ${path}`, `-${SECRET}`, '+x'),
  'apply-patch delete': (path) => patched(`*** Delete File: ${path}`),
  'apply-patch move': (path) => patched(`*** Update File: ${path}`, '*** Move to: stolen'),
  'apply-patch onto': (path) => patched(`*** Add File: ${path}`, '+x'),
  undo: (path) => ({ paths: [path], steps: 1000, anyone: true }),
};
const AGENT = {
  read: (path) => ({ paths: [path] }),
  'read part': (path) => ({ paths: [`${path}:1-2`] }),
  search: (path) => ({ path, pattern: 'S.CRET' }),
  list: (path) => ({ path }),
  outline: (path) => ({ paths: [path] }),
  edit: (path) => ({ edits: [{ path, old: SECRET, new: 'x' }] }),
  'edit patch': (path) => patched(`*** Update File: ${path}`, `-${SECRET}`, '+x'),
  write: (path) => ({ files: [{ path, content: 'x' }] }),
  move: (path) => ({ moves: [{ from: path, to: 'stolen' }] }),
  'move onto': (path) => ({ moves: [{ from: 'env', to: path }] }),
  'move away': (path) => ({ moves: [{ from: path }] }),
};
const patched = (...lines) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
/** Functions that list protected entries, flagged, and reveal nothing else of them. */
const CODER_LISTS = ['coder::list-folder', 'coder::tree'];
const SHELL = {
  'shell::fs::read': (path) => ({ path }),
  'shell::fs::write': (path) => ({ path, content: 'x', parents: true }),
  'shell::fs::stat': (path) => ({ path }),
  'shell::fs::ls': (path) => ({ path }),
  'shell::fs::mkdir': (path) => ({ path, parents: true }),
  'shell::fs::rm': (path) => ({ path, recursive: true }),
  'shell::fs::chmod': (path) => ({ path, mode: '0777', recursive: true }),
  'shell::fs::grep': (path) => ({ path, pattern: 'S.CRET' }),
  'shell::fs::sed': (path) => ({ files: [path], pattern: 'S.CRET', replacement: 'x' }),
  'shell::fs::mv': (path, root) => ({ src: path, dst: `${root}/stolen` }),
  'shell::fs::mv onto': (path, root) => ({ src: `${root}/env`, dst: path, overwrite: true }),
};
const FILESYSTEM = {
  'filesystem::read': (path) => ({ path }),
  'filesystem::write': (path) => ({ path, content: 'x', create_dirs: true }),
  'filesystem::edit': (path) => ({ path, old_string: SECRET, new_string: 'x' }),
  'filesystem::insert': (path) => ({ path, line: 1, content: 'x' }),
  'filesystem::ls': (path) => ({ path, include_hidden: true, recursive: true }),
  'filesystem::grep': (path) => ({ path, pattern: 'S.CRET' }),
  'filesystem::find': (path) => ({ path, pattern: '*' }),
  'filesystem::file_stat': (path) => ({ path }),
  'filesystem::mkdir': (path) => ({ path }),
  'filesystem::rm': (path) => ({ path, recursive: true }),
  'filesystem::mv': (path, root) => ({ source: path, destination: `${root}/stolen`, overwrite: true }),
  'filesystem::mv onto': (path, root) => ({ source: `${root}/env`, destination: path, overwrite: true }),
  'filesystem::cp': (path, root) => ({ source: path, destination: `${root}/stolen`, overwrite: true }),
  'filesystem::cp onto': (path, root) => ({ source: `${root}/env`, destination: path, overwrite: true }),
};

/** A symlink is an ordinary entry, so it may be statted, moved and removed; its target may not. */
const OF_LINKS = new Set([
  ...['stat', 'file_stat', 'rm', 'delete-file', 'apply-patch delete'],
  ...['mv', 'mv onto', 'move', 'move onto', 'move away'],
]);
const isLink = (path) => path in LINKS || path === 'abslink' || path === 'dirlink/up';

function* attacksOn(root) {
  for (const path of PATHS) {
    for (const [worker, functions] of Object.entries({ coder: CODER, agent: AGENT })) {
      for (const [name, payload] of Object.entries(functions)) {
        if (!isLink(path) || !OF_LINKS.has(name)) yield [`${worker}::${name.split(' ')[0]}`, payload(path)];
      }
    }
    for (const whole of absolute(root, path)) {
      for (const [name, payload] of Object.entries({ ...SHELL, ...FILESYSTEM })) {
        if (isLink(path) && OF_LINKS.has(name.split('::').at(-1))) continue;
        yield [name.split(' ')[0], payload(whole, root)];
      }
    }
  }
  for (const path of ['.', 'app', 'dirlink', 'secrets', 'secretlink']) {
    const whole = join(root, path);
    yield ['coder::search', { path, query: 'SECRET' }];
    yield ['coder::search', { path, query: 'S.CRET', regex: true }];
    yield ['agent::search', { path, pattern: 'S.CRET' }];
    yield ['agent::list', { path }];
    yield ['agent::list', { path, glob: '**' }];
    yield ['shell::fs::ls', { path: whole }];
    yield ['shell::fs::grep', { path: whole, pattern: 'S.CRET', recursive: true }];
    yield ['shell::fs::sed', { path: whole, pattern: 'S.CRET', replacement: 'x', recursive: true }];
    yield ['filesystem::ls', { path: whole, include_hidden: true, recursive: true }];
    yield ['filesystem::ls', { path: whole, include_hidden: true }];
    yield ['filesystem::grep', { path: whole, pattern: 'SECRET' }];
    yield ['filesystem::grep', { path: whole, pattern: 'SECRET', recursive: false }];
    yield ['filesystem::find', { path: whole, pattern: '*' }];
  }
}

/** Calls that would move or remove a folder with a protected file in it: refused without any change. */
function* attacksOnFolders(root) {
  for (const folder of ['app', 'secrets', 'secrets/deep', 'folder.key']) {
    const path = join(root, folder);
    yield ['coder::delete-file', { paths: [folder], recursive: true }];
    yield ['agent::move', { moves: [{ from: folder, to: 'stolen' }] }];
    yield ['agent::move', { moves: [{ from: folder }] }];
    yield ['shell::fs::rm', { path, recursive: true }];
    yield ['shell::fs::mv', { src: path, dst: join(root, 'stolen') }];
    yield ['shell::fs::chmod', { path, mode: '0777', recursive: true }];
    yield ['filesystem::rm', { path, recursive: true }];
    yield ['filesystem::mv', { source: path, destination: join(root, 'stolen') }];
  }
}

/** The reply as text, with times and workspace paths made equal. */
async function replyTo(cell, [id, payload], root) {
  const reply = await cell.call(id, payload).catch((error) => ({ code: error.code, error: error.message }));
  const text = JSON.stringify(reply, (key, value) =>
    ['mtime', 'modified', 'created', 'size'].includes(key) && typeof value !== 'boolean' ? 0 : value,
  );
  return text.replaceAll(root, '$');
}

/** Every file with its content, by path. */
function contentsOf(root) {
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [
      join(parentPath, name).slice(root.length + 1),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  );
}

async function openCell(root, options = {}) {
  const workers = [
    { name: 'coder' },
    { name: 'agent' },
    { name: 'shell', config: options.shell },
    { name: 'filesystem', config: options.filesystem },
  ];
  return createWorkcell({ workspace: root, workers, protect: options.protect });
}

const outcome = { attacks: 0, leaks: [], differences: [], changes: [], created: [], ordinary: [] };
const [rich, poor] = ['rich', 'poor'].map((name) => join(home, name));
makeTree(rich, true);
makeTree(poor, false);
const before = [contentsOf(rich), contentsOf(poor)];

/**
 * Whether the reply to a call may show that a protected file exists. coder lists protected files, so it may distinguish
 * a symlink to one from a dangling symlink. So does agent.
 */
function mayDiffer([id, payload]) {
  const sent = JSON.stringify(payload);
  const names = (path) => [`"${path}"`, `"${path}:`, ` ${path}\\n`].some((text) => sent.includes(text));
  return /^(?:coder|agent)::/.test(id) && THROUGH.some(names);
}

async function attackBoth(attacks) {
  const poorAttacks = [...attacks(poor)];
  for (const [i, attack] of [...attacks(rich)].entries()) {
    if (i % every !== 0) continue;
    outcome.attacks++;
    const reported = await replyTo(cells[0], attack, rich);
    const expected = await replyTo(cells[1], poorAttacks[i], poor);
    if (reported.replaceAll('S.CRET', '').replaceAll('"query":"SECRET"', '').includes(SECRET))
      outcome.leaks.push([attack, reported]);
    if (reported !== expected && !mayDiffer(attack)) outcome.differences.push([attack, reported, expected]);
  }
}

const cells = [await openCell(rich), await openCell(poor)];
await attackBoth(attacksOn);
for (const attack of attacksOnFolders(rich)) {
  outcome.attacks++;
  const reported = await replyTo(cells[0], attack, rich);
  if (!/211|F212/.test(reported)) outcome.leaks.push([attack, reported]);
}
for (const path of ['.', 'app', 'dirlink', 'secrets', ...PATHS]) {
  for (const id of CODER_LISTS) {
    outcome.attacks++;
    const reported = await replyTo(cells[0], [id, { path }], rich);
    if (reported.includes(SECRET) || listedIn(JSON.parse(reported)).some(isUnflagged))
      outcome.leaks.push([id, path, reported]);
  }
}
outcome.changes.push(...differing(before[0], contentsOf(rich)));
outcome.created.push(...differing(before[1], contentsOf(poor)));

// A copy of a folder omits protected files.
await cells[0].call('filesystem::cp', { source: join(rich, 'app'), destination: join(rich, 'copy') });
outcome.copied = Object.keys(contentsOf(join(rich, 'copy')));
rmSync(join(rich, 'copy'), { recursive: true });
for (const name of ['.env.example', '.ENV']) {
  const read = [
    cells[0].call('coder::read-file', { path: name }),
    cells[0].call('shell::fs::grep', { path: join(rich, name), pattern: 'plain' }),
    cells[0].call('filesystem::read', { path: join(rich, name) }),
  ];
  outcome.ordinary.push((await Promise.all(read)).filter((reply) => JSON.stringify(reply).includes('plain')).length);
}
for (const cell of cells) await cell.close();

// A glob that starts at one worker's root holds through the wider and the narrower roots of the others.
mkdirSync(join(rich, 'conf'), { recursive: true });
writeFileSync(join(rich, 'conf/a.ini'), SECRET);
for (const options of [
  { filesystem: { paths: null }, shell: { fs: { host_root: null, allow_unjailed: true } } },
  { filesystem: { paths: [join(rich, 'conf')] }, shell: { fs: { host_root: join(rich, 'conf') } } },
]) {
  const cell = await openCell(rich, { ...options, protect: ['conf/*.ini'] });
  for (const path of [
    join(rich, 'conf/a.ini'),
    `/proc/self/root${join(rich, 'conf/a.ini')}`,
    `/proc/self/cwd${'/..'.repeat(9)}${rich}/conf/a.ini`,
  ]) {
    for (const attack of [
      ['filesystem::read', { path }],
      ['filesystem::grep', { path: dirname(path), pattern: 'S.CRET' }],
      ['filesystem::file_stat', { path }],
      ['shell::fs::read', { path }],
      ['shell::fs::grep', { path: dirname(path), pattern: 'S.CRET', recursive: true }],
      ['shell::fs::sed', { files: [path], pattern: 'S.CRET', replacement: 'x' }],
    ]) {
      outcome.attacks++;
      const reported = await replyTo(cell, attack, rich);
      if (reported.includes(SECRET) || /sha256|size_bytes|"size"|"line"/.test(reported))
        outcome.leaks.push([attack, reported]);
    }
  }
  await cell.close();
}

// A file that is protected since its record was made is not restored.
writeFileSync(join(rich, 'late.txt'), SECRET);
for (const protect of [[], ['late.txt']]) {
  const cell = await openCell(rich, { protect });
  const change = { files: [{ path: 'late.txt', ops: [{ op: 'insert', at_line: 1, content: 'x' }] }] };
  await cell.call('coder::update-file', change);
  for (const attack of [
    ['coder::undo', { anyone: true, dry_run: true }],
    ['coder::undo', { anyone: true }],
  ]) {
    const reported = protect.length > 0 && (await replyTo(cell, attack, rich));
    if (reported && !reported.includes('C211')) outcome.leaks.push([attack, reported]);
  }
  await cell.close();
}
outcome.changes.push(...(readFileSync(join(rich, 'late.txt'), 'utf8') === `x\n${SECRET}` ? [] : ['late.txt']));
process.stdout.write(JSON.stringify(outcome));

/** Every entry of a listing or a tree. */
function listedIn({ entries = [], root, children = [] }) {
  return [...entries, ...(root ? [root] : []), ...children].flatMap((entry) => [entry, ...listedIn(entry)]);
}

function isUnflagged({ name, non_accessible }) {
  return TARGETS.some((path) => path.split('/').at(-1) === name) && non_accessible !== true;
}

function differing(old, now) {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => old[name] !== now[name]);
}
