/**
 * Exports an image of the cache as an archive for `import` on another machine.
 *
 * Its layers are not kept: the tree becomes one layer, whose digest identifies the image there.
 */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';

import type { ImageSettings } from './image-store.ts';
import { ARCHITECTURE } from './oci-documents.ts';
import { runProgram } from './presets/program.ts';

const TAR_MS = 600_000;
const BLOCK = 512;

export interface ExportedImage {
  /** Digest of the image after its import. */
  readonly digest: string;
  readonly sizeBytes: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

interface Tree {
  readonly rootDir: string;
  readonly settings: ImageSettings;
}

/** The bytes are read from the work directory: it must stay until they are sent. */
export async function exportTree(
  { rootDir, settings }: Tree,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
): Promise<ExportedImage> {
  const layer = join(workDir, 'layer.tar');
  // Without root, the files of the tree belong to the user; in the archive they belong to root.
  const owners = process.getuid?.() === 0 ? ['--numeric-owner'] : ['--owner=0', '--group=0'];
  await runProgram(['tar', '-C', rootDir, ...owners, '--format=pax', '-cf', layer, '.'], {
    signal,
    timeoutMs: TAR_MS,
    hint: 'copying an image to another machine needs the program tar',
  });
  const digest = `sha256:${await hashOf(layer, signal)}`;
  const config = Buffer.from(JSON.stringify(configOf(settings, digest)));
  const manifest = Buffer.from(JSON.stringify([{ Config: 'config.json', Layers: ['layer.tar'] }]));
  const layerBytes = statSync(layer).size;
  const files = [
    { name: 'manifest.json', size: manifest.length, open: () => [manifest] },
    { name: 'config.json', size: config.length, open: () => [config] },
    { name: 'layer.tar', size: layerBytes, open: () => createReadStream(layer, { highWaterMark: 256 * 1024 }) },
  ];
  const sizeBytes = files.reduce((sum, { size }) => sum + BLOCK + padded(size), 2 * BLOCK);
  return { digest, sizeBytes, bytes: tarOf(files) };
}

function configOf({ env, workdir, user }: ImageSettings, digest: string) {
  const config = { Env: env, WorkingDir: workdir ?? '', User: user ?? '' };
  return { os: 'linux', architecture: ARCHITECTURE, config, rootfs: { type: 'layers', diff_ids: [digest] } };
}

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { signal })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

interface TarFile {
  name: string;
  size: number;
  open: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

async function* tarOf(files: readonly TarFile[]): AsyncGenerator<Uint8Array> {
  for (const { name, size, open } of files) {
    yield headerOf(name, size);
    yield* open();
    yield Buffer.alloc(padded(size) - size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}
