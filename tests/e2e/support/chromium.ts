/** Debian's Chromium: found, or installed where that is allowed, and driven without a window. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium, type Browser } from 'playwright-core';

/** Without fonts a page shows boxes. */
const PACKAGES = ['chromium', 'fonts-inter', 'fonts-jetbrains-mono'];
const APT_MS = 300_000;

/** Why no browser is available; undefined once one is. */
export function whyNoChromium(): string | undefined {
  if (programPath('chromium') !== undefined) return undefined;
  const command = `apt-get install -y --no-install-recommends ${PACKAGES.join(' ')}`;
  const mayInstall = !process.env.WORKCELL_NO_APT && process.geteuid?.() === 0 && programPath('apt-get') !== undefined;
  if (!mayInstall) return `chromium is missing. To install: ${command}`;

  process.stderr.write(`console: chromium is missing. Installing: ${command}\n`);
  spawnSync('sh', ['-c', `${command} || { apt-get update && ${command}; }`], { stdio: 'ignore', timeout: APT_MS });
  return programPath('chromium') === undefined ? `chromium could not be installed with: ${command}` : undefined;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: programPath('chromium')!,
    // Chromium refuses its own sandbox to root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

function programPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
