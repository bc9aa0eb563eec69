/**
 * Repositories that tasks work on, made from published packages: fetched once by their own clients, copied for each
 * task.
 *
 * Without a network the suite says so and does not run.
 */
import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { isPublic } from '../../../dist/egress/addresses.js';

const CACHE = resolve('.artifacts/bench-repositories');
const FETCH_MS = 300_000;
export const WHEEL = 'segno-1.6.6-py3-none-any.whl';

/**
 * Whether a sandbox may reach the index of PyPI: it reaches public addresses only, and some networks have their own.
 */
export const canInstall = await hasPublicAddress('pypi.org');

const SOURCES = {
  commander: (tree) => unpackNpm('commander@12.1.0', tree),
  django(tree) {
    const [wheel] = download('pip', ['download', '--quiet', '--no-deps', 'Django==5.1.3'], dirname(tree), '.whl');
    return wheel !== undefined && succeeds('python3', ['-m', 'zipfile', '-e', wheel, tree]);
  },
  segno(tree) {
    download('pip', ['download', '--quiet', '--no-deps', 'segno==1.6.6'], tree, '.whl');
    return existsSync(join(tree, WHEEL));
  },
  /** The app that `npm create vite` makes, with its packages. */
  'vite-app'(tree) {
    const made = join(tree, '..', 'create-vite');
    mkdirSync(made);
    if (!unpackNpm('create-vite@9.3.0', made)) return false;
    rmSync(tree, { recursive: true });
    renameSync(join(made, 'template-vanilla'), tree);
    renameSync(join(tree, '_gitignore'), join(tree, '.gitignore'));
    return succeeds('npm', ['install', '--silent', '--ignore-scripts', '--no-audit', '--no-fund'], tree);
  },
};

export function makeRepositories() {
  for (const [name, fetch] of Object.entries(SOURCES)) {
    const folder = join(CACHE, name);
    if (existsSync(join(folder, 'ready'))) continue;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'tree'), { recursive: true });
    if (!fetch(join(folder, 'tree'))) {
      console.log(`\n${name} could not be fetched: the suite does not run.`);
      return undefined;
    }
    writeFileSync(join(folder, 'ready'), '');
  }
  const root = mkdtempSync(join(tmpdir(), 'workcell-agent-'));
  let count = 0;
  mkdirSync(join(root, 'empty'));
  return {
    root: join(root, 'empty'),
    /** A copy with the files of the task, as one commit, and the files that are in none. */
    fresh({ repository, files = {}, uncommitted = {} }) {
      const copy = join(root, `copy-${++count}`);
      if (repository) cpSync(join(CACHE, repository, 'tree'), copy, { recursive: true, verbatimSymlinks: true });
      put(copy, files);
      const git = (...args) =>
        spawnSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: copy });
      git('init', '-q', '-b', 'main');
      git('add', '.');
      git('commit', '-q', '-m', 'snapshot');
      put(copy, uncommitted);
      return copy;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function put(copy, files) {
  for (const [path, content] of Object.entries(typeof files === 'function' ? files(copy) : files)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), content);
  }
}

function unpackNpm(spec, folder) {
  const [archive] = download('npm', ['pack', '--silent', spec], dirname(folder), '.tgz');
  return archive !== undefined && succeeds('tar', ['--strip-components=1', '-xzf', archive, '-C', folder]);
}

/** Paths of the files with this ending. */
function download(program, args, folder, ending) {
  succeeds(program, args, folder);
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

function succeeds(program, args, cwd) {
  return spawnSync(program, args, { cwd, stdio: 'ignore', timeout: FETCH_MS }).status === 0;
}

async function hasPublicAddress(host) {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => isPublic(address));
}
