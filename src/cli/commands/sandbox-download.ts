/**
 * workcell sandbox download: a file of a sandbox onto this machine, or to standard output.
 *
 * It is written beside its place and moved there when all of it has come, so a broken download replaces nothing.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { z } from 'zod';

import type { Bus } from '#contract';
import { ChannelBroken, ChannelRefSchema, type ChannelRef } from '#protocol';
import { UsageError, type Command } from '../command.ts';
import { addressOptions } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { tellingFailures, WAIT_MS } from '../sandbox-command.ts';

const ReadReply = z.object({ content: ChannelRefSchema, size: z.number() });

export const sandboxDownload: Command = {
  name: 'sandbox download',
  aliases: ['worker sandbox download'],
  summary: 'Copy a file out of a sandbox; - is standard output.',
  usage: '<sandbox-id> <path-in-sandbox> <file|->',
  options: addressOptions,
  minWords: 3,
  maxWords: 3,

  run({ words, options }) {
    const [sandbox_id, path, local] = words as [string, string, string];
    return tellingFailures(options, async (bus) => {
      const request = { sandbox_id, path };
      const { content, size } = ReadReply.parse(await bus.call('sandbox::fs::read', request, { timeoutMs: WAIT_MS }));
      if (local === '-') {
        await copy(bus, content, process.stdout, size);
        return EXIT.ok;
      }
      const bytes = await saveAs(local, (sink) => copy(bus, content, sink, size));
      process.stdout.write(`downloaded ${bytes} bytes to ${local}\n`);
      return EXIT.ok;
    });
  },
};

/** A channel that breaks off fails the download, and so does one that ended early: other engines than ours end both alike. */
async function copy(bus: Bus, content: ChannelRef, sink: Writable, size: number): Promise<number> {
  let bytes = 0;
  try {
    for await (const item of await bus.openReader(content)) {
      if (typeof item === 'string') throw new UsageError(`the download broke off: ${item}`);
      bytes += item.length;
      if (!sink.write(item)) await once(sink, 'drain');
    }
  } catch (error) {
    throw error instanceof ChannelBroken ? new UsageError(`the download broke off: ${error.message}`) : error;
  }
  // Files that the guest makes up while they are read, such as those of /proc, have no size.
  if (size !== 0 && bytes !== size) throw new UsageError(`the download broke off after ${bytes} of ${size} bytes`);
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
