/**
 * The stand-in for the documented worker, built here on first use: `src/main.rs`, with cargo and Debian's crates.
 *
 * As root it installs with apt what that takes; otherwise the suite runs without it and names the packages to install.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { StdioServer } from '../files/stdio-client.mjs';

export const STAND_IN = 'stand-in in Rust';

const FOLDER = resolve('.artifacts/bench-peers/stand-in');
const CRATES = '/usr/share/cargo/registry';
const NEEDED = [
  'cargo',
  ...['walkdir', 'globset', 'serde', 'serde-derive', 'serde-json'].map((name) => `librust-${name}-dev`),
];
const INSTALL = ['install', '-y', '--no-install-recommends', ...NEEDED];
const BUILD = [
  ['build', '--release', '--offline'],
  ['--config', 'source.crates-io.replace-with="debian"'],
  ['--config', `source.debian.directory="${CRATES}"`],
].flat();
const STEP_MS = 600_000;

/** On a folder; undefined when it cannot be had. */
export async function startStandIn(root) {
  const program = built();
  return program && StdioServer.startProgram(program, [root]);
}

function built() {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of ['Cargo.toml', 'src']) {
    cpSync(fileURLToPath(new URL(name, import.meta.url)), join(FOLDER, name), { recursive: true });
  }
  const isBuilt = run('cargo', BUILD) || (isInstalled() && run('cargo', BUILD));
  if (isBuilt) return join(FOLDER, 'target/release/coder-stand-in');
  console.log(`\nThe stand-in could not be built: no comparison with it. It needs: ${NEEDED.join(' ')}`);
  return undefined;
}

function isInstalled() {
  if (process.geteuid() !== 0) return false;
  console.log(`\nFor the stand-in: apt-get ${INSTALL.join(' ')}`);
  return run('apt-get', INSTALL);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: FOLDER, stdio: 'ignore', timeout: STEP_MS });
  return status === 0;
}
