/**
 * workcell sandbox download: copies a file or a directory from sandboxes to this machine, or a file to standard output.
 *
 * It writes to a temporary name and renames it at the end, so a broken download replaces nothing.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { z } from 'zod';

import type { Bus } from '#contract';
import { ArchiveError, isFreeForTree } from '#workers/sandbox';
import { UsageError, type Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printText } from '../../print.ts';
import { forEachSandbox } from '../../sandbox/each-sandbox.ts';
import { fileBytes, type SandboxPath } from '../../sandbox/file-bytes.ts';
import { downloadTree } from '../../sandbox/trees.ts';

const Stat = z.object({ is_dir: z.boolean() });

export const sandboxDownload: Command = {
  name: 'sandbox download',
  summary: 'Copy a file or a directory out of sandboxes; - is standard output.',
  usage: '<sandbox>… <path-in-sandbox> <file|directory|->',
  details:
    'A sandbox is named by its id, the beginning of its id, or its name; with several, each copy goes into a directory of its\n' +
    'id. A directory keeps modes and symlinks; its target must not exist or be an empty directory. Symlinks that point out of\n' +
    'it are skipped and listed. The image needs tar for it.',
  options: addressOptions,
  examples: ['workcell sandbox download lab /home/app/dist dist'],
  minWords: 3,

  run({ words, options }) {
    const sandboxes = words.slice(0, -2);
    const [path, local] = words.slice(-2) as [string, string];
    if (local === '-' && sandboxes.length > 1) throw new UsageError('standard output takes one sandbox, not several');
    return forEachSandbox(options, sandboxes, async (bus, sandbox_id, { length }) => {
      const from = { sandbox_id, path };
      return download(bus, from, length > 1 ? await pathIn(local, from) : local);
    });
  },
};

async function pathIn(local: string, { sandbox_id, path }: SandboxPath): Promise<string> {
  await mkdir(join(local, sandbox_id), { recursive: true });
  return join(local, sandbox_id, basename(path));
}

async function download(bus: Bus, from: SandboxPath, local: string): Promise<number> {
  if (local === '-') {
    await copy(fileBytes(bus, from), process.stdout);
    return EXIT.ok;
  }
  const { is_dir } = Stat.parse(await bus.call('sandbox::fs::stat', from));
  if (is_dir) return downloadDirectory(bus, from, local);
  const bytes = await saveAs(local, (sink) => copy(fileBytes(bus, from), sink));
  process.stdout.write(`downloaded ${bytes} bytes to ${local}\n`);
  return EXIT.ok;
}

async function downloadDirectory(bus: Bus, from: SandboxPath, local: string): Promise<number> {
  if (!isFreeForTree(local)) throw new UsageError(`${local} is not an empty directory; give a new one`);
  const { files, leftOut } = await downloadTree(bus, from, local).catch((error: unknown) => {
    if (error instanceof ArchiveError) throw new UsageError(`nothing was downloaded: ${error.message}`);
    throw error;
  });
  process.stdout.write(`downloaded ${files} files to ${local}\n`);
  if (leftOut.count > 0) {
    const names = leftOut.names.map((name) => JSON.stringify(name)).join(', ');
    printText(`left out ${leftOut.count} that point outside or are not files: ${names}\n`, process.stderr);
  }
  return EXIT.ok;
}

async function copy(source: AsyncIterable<Uint8Array>, sink: Writable): Promise<number> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (!sink.write(piece)) await once(sink, 'drain');
  }
  return bytes;
}

async function saveAs(local: string, fill: (sink: Writable) => Promise<number>): Promise<number> {
  const beside = `${local}.${randomUUID()}.part`;
  const sink = createWriteStream(beside, { flags: 'wx' });
  try {
    await once(sink, 'open').catch((error: unknown) => {
      throw new UsageError(`${local} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
    });
    const bytes = await fill(sink);
    sink.end();
    await finished(sink);
    await rename(beside, local);
    return bytes;
  } catch (error) {
    sink.destroy();
    await rm(beside, { force: true });
    throw error;
  }
}
