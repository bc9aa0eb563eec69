/**
 * Repositories that tasks work on, made from published packages: fetched once by their own clients, copied for each task.
 *
 * Without a network the suite says so and does not run.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const CACHE = resolve('.artifacts/bench-repositories');
const FETCH_MS = 300_000;

const SOURCES = {
  commander: (folder) =>
    unpack('npm', ['pack', '--silent', 'commander@12.1.0'], folder, ['tar', '--strip-components=1', '-xzf']),
  django: (folder) =>
    unpack('pip', ['download', '--quiet', '--no-deps', 'Django==5.1.3'], folder, ['python3', '-m', 'zipfile', '-e']),
};

export function makeRepositories() {
  for (const [name, fetch] of Object.entries(SOURCES)) {
    const folder = join(CACHE, name);
    if (existsSync(join(folder, 'ready'))) continue;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'tree'), { recursive: true });
    if (!fetch(folder)) {
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
    /** A copy with the files of the task, as one commit. */
    fresh({ repository, files = {} }) {
      const copy = join(root, `copy-${++count}`);
      if (repository) cpSync(join(CACHE, repository, 'tree'), copy, { recursive: true });
      for (const [path, content] of Object.entries(typeof files === 'function' ? files(copy) : files)) {
        mkdirSync(dirname(join(copy, path)), { recursive: true });
        writeFileSync(join(copy, path), content);
      }
      const git = (...args) =>
        spawnSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: copy });
      git('init', '-q', '-b', 'main');
      git('add', '.');
      git('commit', '-q', '-m', 'snapshot');
      return copy;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function unpack(program, args, folder, [command, ...words]) {
  spawnSync(program, args, { cwd: folder, stdio: 'ignore', timeout: FETCH_MS });
  const [archive] = readdirSync(folder).filter((file) => /\.(tgz|whl)$/.test(file));
  if (!archive) return false;
  const into = join(folder, 'tree');
  const target = command === 'tar' ? [join(folder, archive), '-C', into] : [join(folder, archive), into];
  return spawnSync(command, [...words, ...target]).status === 0;
}
