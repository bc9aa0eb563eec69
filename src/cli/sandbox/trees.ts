/**
 * Copies directories into a sandbox and out of it: a tar in the guest's /tmp, which the guest's own tar writes or
 * reads, through a channel.
 *
 * The guest may write any archive it likes; `unpackTree` keeps all of it inside the new directory.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { z } from 'zod';

import type { Bus } from '#contract';
import { unpackTree, type UnpackedTree } from '#workers/sandbox';
import { UsageError } from '../command.ts';
import { WAIT_MS } from '../command-output.ts';
import { fileBytes, sendFile, type SandboxPath } from './file-bytes.ts';

const Ended = z.object({ exit_code: z.int().nullish(), stderr: z.string() });

/** Copies the contents of the local directory into the one in the sandbox, which is created if missing. */
export async function uploadTree(bus: Bus, local: string, { sandbox_id, path }: SandboxPath): Promise<number> {
  return withArchive(bus, sandbox_id, async (archive) => {
    const bytes = await sendFile(bus, { sandbox_id, path: archive, mode: '0644', parents: true }, tarOf(local));
    await inGuest(bus, sandbox_id, 'mkdir -p "$2" && tar -xpof "$1" -C "$2"', [archive, path]);
    return bytes;
  });
}

export async function downloadTree(bus: Bus, { sandbox_id, path }: SandboxPath, local: string): Promise<UnpackedTree> {
  return withArchive(bus, sandbox_id, async (archive) => {
    await inGuest(bus, sandbox_id, 'tar -cf "$1" -C "$2" .', [archive, path]);
    return unpackTree(fileBytes(bus, { sandbox_id, path: archive }), local);
  });
}

async function withArchive<T>(bus: Bus, sandbox_id: string, work: (archive: string) => Promise<T>): Promise<T> {
  const archive = `/tmp/.workcell-${randomUUID()}.tar`;
  try {
    return await work(archive);
  } finally {
    // The file may never have been created, and the sandbox may have ended.
    await bus.call('sandbox::fs::rm', { sandbox_id, path: archive }).catch(() => {});
  }
}

async function inGuest(bus: Bus, sandbox_id: string, script: string, words: string[]): Promise<void> {
  const request = { sandbox_id, argv: ['sh', '-c', script, 'sh', ...words] };
  const { exit_code, stderr } = Ended.parse(await bus.call('sandbox::exec', request, { timeoutMs: WAIT_MS }));
  if (exit_code === 0) return;
  const why = exit_code === 127 ? 'a directory needs sh and tar in the image' : 'tar failed in the sandbox';
  throw new UsageError(`${why}: ${stderr.trim()}`);
}

/** Made by the tar of this machine, which keeps modes and symlinks. Throws at the end if tar failed. */
async function* tarOf(directory: string): AsyncGenerator<Uint8Array> {
  const env = { ...process.env, COPYFILE_DISABLE: '1' };
  const tar = spawn('tar', ['-C', directory, '-cf', '-', '.'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const problem = text(tar.stderr);
  const ended = once(tar, 'close');
  ended.catch(() => {});
  try {
    yield* tar.stdout as AsyncIterable<Buffer>;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`${directory} cannot be read: ${(await problem).trim()}`);
  } finally {
    tar.kill();
  }
}
