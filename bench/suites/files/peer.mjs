/**
 * The peer, kept out of package.json because it brings a hundred packages that only this suite needs.
 *
 * It is installed on first use; without a network the suite runs without it and says so.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve('.artifacts/bench-peers');
const PACKAGE = '@modelcontextprotocol/server-filesystem';
const VERSION = '2026.8.31';
const ENTRY = join(FOLDER, 'node_modules', PACKAGE, 'dist/index.js');

export const PEER = `server-filesystem ${VERSION}`;

/** What to start, or nothing. */
export function peerEntry() {
  if (existsSync(ENTRY)) return ENTRY;

  mkdirSync(FOLDER, { recursive: true });
  const args = ['install', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`];
  spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 180_000 });
  return existsSync(ENTRY) ? ENTRY : undefined;
}
