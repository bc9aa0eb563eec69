/**
 * Makes a clone ready to start or test: the Node version, the packages, the build.
 *
 * It runs before any package is installed, so it may import nothing but Node and its neighbours here.
 * A step that has nothing to do costs a hash and prints nothing.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { closingLines } from './closing-line.mjs';

const NODE_FLOOR = [20, 19];
const LOCK_HASH = 'node_modules/.workcell-lock-hash';
const SOURCE_HASH = 'dist/.source-hash';
/** Files that the build puts among the sources. */
const BUILT_SOURCES = [join('src', 'host', 'kernels', 'kernels.wasm')];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
checkNode();
installPackages();
build();

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [floorMajor, floorMinor] = NODE_FLOOR;
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) return;

  say(`Workcell needs Node ${NODE_FLOOR.join('.')} or newer; this is ${process.versions.node}.`);
  stop(1);
}

function installPackages() {
  const hash = hashOf(['package-lock.json', 'package.json'].filter((file) => existsSync(file)));
  if (hash === recorded(LOCK_HASH)) return;

  const lock = existsSync('package-lock.json') ? readJson('package-lock.json').packages : undefined;
  if (lock && !holdsManifest(lock)) {
    say('package.json names other packages than package-lock.json. To bring them together: npm install');
    stop(1);
  }
  if (!lock || !isInstalled(lock)) {
    // `npm ci` refuses a lock file without the optional packages of every platform, and a registry may lack some.
    // This installs the same versions and writes no file. Building needs the development packages in production too.
    runNpm('installing packages', ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund']);
  }
  writeFileSync(LOCK_HASH, hash);
}

function holdsManifest(lock) {
  const manifest = readJson('package.json');
  const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  return fields.every((field) => isDeepStrictEqual(manifest[field], lock[''][field]));
}

/**
 * Whether npm already put every locked version in place: then editing package.json costs no installation.
 * Of the optional packages only those that others brought may be absent: the build needs the types of ours.
 */
function isInstalled(lock) {
  const listing = 'node_modules/.package-lock.json';
  if (!existsSync(listing)) return false;

  const present = readJson(listing).packages;
  const ours = Object.keys(lock[''].optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.entries(lock).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return present[path] ? present[path].version === version : optional === true && !ours.includes(path);
  });
}

function build() {
  const configs = readdirSync('.').filter((name) => /^tsconfig.*\.json$/.test(name));
  const sources = [...filesUnder('src'), ...filesUnder('console')].filter((file) => !BUILT_SOURCES.includes(file));
  const hash = hashOf([
    ...sources,
    ...configs,
    'package.json',
    'scripts/build-kernels.mjs',
    'scripts/build-console.mjs',
    'scripts/bundle-cli.mjs',
    'scripts/list-tools.mjs',
  ]);
  if (hash === recorded(SOURCE_HASH) && BUILT_SOURCES.every((file) => existsSync(file))) return;

  runNpm('building', ['run', '--silent', 'build']);
  writeFileSync(SOURCE_HASH, hash);
}

function runNpm(doing, args) {
  const command = `npm ${args.join(' ')}`;
  say(`${doing}: ${command}`);
  // npm is a .cmd file on Windows, which only a shell can start; the words above need no quoting.
  const { status, error } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status === 0) return;

  say(`${doing} failed${error ? ` (${error.message})` : ''}. To see it by hand: ${command}`);
  stop(status ?? 1);
}

/** Ends the run. A test run that never reached its tests still closes with its line. */
function stop(code) {
  if (/^pre(check|test)/.test(process.env.npm_lifecycle_event ?? ''))
    console.log(closingLines({ passed: 0, failed: 1, skipped: 0, failures: [] }));
  process.exit(code);
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function recorded(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
