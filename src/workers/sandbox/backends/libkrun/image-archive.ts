/**
 * An image of ours as an archive that microsandbox takes in, in the form of `docker save`.
 *
 * A machine could have the directory itself for its root, but then its writes would land there, in the image of all.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import type { PreparedImage } from '../../images/index.ts';

const run = promisify(execFile);

const TAR_MS = 300_000;

/** How `docker save` spells processors. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Makes the archive, lends it out, and removes it: microsandbox keeps what it needs. */
export async function withImageArchive<T>(
  { rootDir }: Pick<PreparedImage, 'rootDir'>,
  { folder, tag, signal }: { folder: string; tag: string; signal: AbortSignal },
  use: (archive: string) => Promise<T>,
): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, 'archive-'));
  const tar = (args: string[]) => run('tar', args, { timeout: TAR_MS, signal });
  try {
    const layer = join(draft, 'layer.tar');
    await tar(['--numeric-owner', '-cf', layer, '-C', rootDir, '.']);
    const config = {
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [`sha256:${await sha256(layer)}`] },
      history: [],
    };
    const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }];
    writeFileSync(join(draft, 'config.json'), JSON.stringify(config));
    writeFileSync(join(draft, 'manifest.json'), JSON.stringify(manifest));
    const archive = join(draft, 'image.tar');
    await tar(['-cf', archive, '-C', draft, 'manifest.json', 'config.json', 'layer.tar']);
    return await use(archive);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
