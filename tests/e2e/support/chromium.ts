/**
 * Debian's Chromium: found, or installed where that is allowed, and driven without a window.
 *
 * Prefers the build without window support (chromium-headless-shell), which takes half the processor time, and installs
 * it even where the full one is present. The full one is the fallback.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium, type Browser } from 'playwright-core';

const [LEAN, OTHER] = ['chromium-headless-shell', 'chromium'];
/** Without fonts a page shows boxes. */
const PACKAGES = [LEAN, 'fonts-inter', 'fonts-jetbrains-mono'];
const APT_MS = 300_000;

/** Why no browser is available; undefined once one is. */
export function whyNoChromium(): string | undefined {
  if (programPath(LEAN) !== undefined) return undefined;
  // Two test files may install at once: the second waits for the lock of the first.
  const command = `apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=${APT_MS / 1000} ${PACKAGES.join(' ')}`;
  const mayInstall = !process.env.WORKCELL_NO_APT && process.geteuid?.() === 0 && programPath('apt-get') !== undefined;
  if (mayInstall) {
    process.stderr.write(`console: ${LEAN} is missing. Installing: ${command}\n`);
    const orElse = installed() === undefined ? `{ apt-get update && ${command}; }` : 'true';
    spawnSync('sh', ['-c', `${command} || ${orElse}`], { stdio: 'ignore', timeout: APT_MS });
  }
  if (installed() !== undefined) return undefined;
  return mayInstall ? `no Chromium could be installed with: ${command}` : `Chromium is missing. To install: ${command}`;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: installed()!,
    // Chromium refuses its own sandbox to root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

function installed(): string | undefined {
  return programPath(LEAN) ?? programPath(OTHER);
}

function programPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
