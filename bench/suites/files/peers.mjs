/**
 * Servers that do some of the same over MCP, kept out of package.json because they bring hundreds of packages that
 * only a comparison needs.
 *
 * Each is installed on first use in a folder of its own; without a network the suite runs without it and says so.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { StdioServer } from './stdio-client.mjs';

export const SERVER_FILESYSTEM = 'server-filesystem 2026.8.31';
export const DESKTOP_COMMANDER = 'desktop-commander 0.2.52';

const FOLDER = resolve('.artifacts/bench-peers');
const INSTALL = ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
const INSTALL_MS = 300_000;

/** The reference server for files, allowed to work in one folder; undefined when it cannot be had. */
export async function startServerFilesystem(root) {
  const entry = installed('@modelcontextprotocol/server-filesystem', '2026.8.31');
  return entry && StdioServer.start([entry, root]);
}

/** Undefined when it cannot be had. `home` is a folder for its configuration and logs. */
export async function startDesktopCommander(home) {
  // It asks for a version of this one that was never published.
  const overrides = { 'typedarray.prototype.slice': '1.0.5' };
  const entry = installed('@wonderwhy-er/desktop-commander', '0.2.52', overrides);
  if (!entry) return undefined;

  mkdirSync(join(home, '.claude-server-commander'), { recursive: true });
  const config = { telemetryEnabled: false, allowedDirectories: [], blockedCommands: [] };
  writeFileSync(join(home, '.claude-server-commander/config.json'), JSON.stringify(config));
  // Nothing of its work here is of use to others, and it should not wait for a network.
  const env = { HOME: home, DESKTOP_COMMANDER_DISABLE_TELEMETRY: '1', DC_FLAG_URL: 'http://127.0.0.1:9/' };
  return StdioServer.start([entry], { PATH: '/usr/bin:/bin', ...env });
}

/** The file to start. */
function installed(packageName, version, overrides = {}) {
  const folder = join(FOLDER, packageName.split('/')[1]);
  const entry = join(folder, 'node_modules', packageName, 'dist/index.js');
  if (existsSync(entry)) return entry;

  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { [packageName]: version }, overrides };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  spawnSync('npm', INSTALL, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS });
  if (existsSync(entry)) return entry;
  console.log(`\n${packageName} could not be installed: no comparison with it.`);
  return undefined;
}
