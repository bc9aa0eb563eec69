/**
 * A root directory of Debian packages that were unpacked and not installed.
 *
 * Repeats the effects of an installation, as far as commands in a sandbox depend on them. Omits files that identify this
 * machine (hostname, resolver and mirrors).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import type { ByteString } from '#host';
import { EPOCH_SECS, type EntryFacts, type TreeWriter } from '#sandbox/archives';

const LEFT_OUT = [
  'etc/apt',
  'etc/hostname',
  'etc/resolv.conf',
  'usr/share/doc',
  'usr/share/doc-base',
  'usr/share/info',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/man',
  'var/cache',
  'var/lib/apt',
  'var/lib/dpkg',
  'var/log',
];

const DIRECTORY: EntryFacts = { mode: 0o755, uid: 0, gid: 0, mtimeSecs: EPOCH_SECS };
const FILE: EntryFacts = { ...DIRECTORY, mode: 0o644 };

/** For `applyLayer`: the path of an entry, or undefined to skip it. */
export function keptPath(path: string): string | undefined {
  if (LEFT_OUT.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return undefined;
  // Skips the marker that forbids `pip install` in a system managed by Debian: a sandbox is disposable.
  return /^usr\/lib\/python3[^/]*\/EXTERNALLY-MANAGED$/.test(path) ? undefined : path;
}

export async function finishDebianTree(tree: TreeWriter, rootDir: string): Promise<void> {
  for (const name of ['dev', 'dev/pts', 'dev/shm', 'proc', 'run', 'sys', 'var/cache', 'var/log']) {
    tree.directory(tree.resolve(name), DIRECTORY);
  }
  const write = (path: string, text: string) => tree.file(tree.resolve(path), FILE, Readable.from([Buffer.from(text)]));

  await write('etc/hosts', '127.0.0.1 localhost\n::1 localhost\n');
  for (const name of ['passwd', 'group']) {
    await write(`etc/${name}`, readFileSync(join(rootDir, `usr/share/base-passwd/${name}.master`), 'utf8'));
  }
  await write('etc/ssl/certs/ca-certificates.crt', certificates(tree, rootDir));
  addLink(tree, 'usr/lib/ssl/cert.pem', '/etc/ssl/certs/ca-certificates.crt');
  addLink(tree, 'usr/bin/awk', 'mawk');
  addLink(tree, 'usr/bin/which', 'which.debianutils');
}

/** Adds a symlink if the path is free. */
export function addLink(tree: TreeWriter, path: string, target: string): void {
  const resolved = tree.resolve(path);
  if (!tree.stat(resolved)) tree.symlink(resolved, target as ByteString, FILE);
}

function certificates(tree: TreeWriter, rootDir: string): string {
  const folder = 'usr/share/ca-certificates/mozilla';
  const names = tree.names(folder).toSorted();
  return names.map((name) => readFileSync(Buffer.from(join(rootDir, folder, name), 'latin1'), 'utf8')).join('');
}
