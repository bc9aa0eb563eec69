/** Sends and reads the bytes of a file in a sandbox through a channel, completely or not at all. */
import { z } from 'zod';

import type { Bus } from '#contract';
import { ChannelBroken, ChannelRefSchema, type ChannelWriter } from '#protocol';
import { UsageError } from '../command.ts';
import { WAIT_MS } from '../command-output.ts';

const Written = z.object({ bytes_written: z.number() });
const ReadReply = z.object({ content: ChannelRefSchema, size: z.number() });

export interface SandboxPath {
  sandbox_id: string;
  path: string;
}

/** Returns the number of bytes written. */
export async function sendFile(
  bus: Bus,
  to: SandboxPath & { mode?: string | undefined; parents?: boolean },
  source: AsyncIterable<Uint8Array>,
): Promise<number> {
  const { writer, reader } = await bus.createChannel();
  const writing = bus.call('sandbox::fs::write', { ...to, content: reader }, { timeoutMs: WAIT_MS });
  const sink = await bus.openWriter(writer);
  const [reply] = await Promise.all([writing, send(source, sink)]);
  return Written.parse(reply).bytes_written;
}

/**
 * Reports a broken source to the sandbox, so that half a file is not kept; a broken sink is reported by the call
 * itself.
 */
async function send(source: AsyncIterable<Uint8Array>, sink: ChannelWriter): Promise<void> {
  try {
    for await (const chunk of source) await sink.write(chunk);
    await sink.end();
  } catch (error) {
    const problem = JSON.stringify({ error: String(error) });
    await sink
      .write(problem)
      .then(() => sink.end())
      .catch(() => {});
  }
}

/** Fails on a broken channel, and on one that ended early: engines other than ours end both alike. */
export async function* fileBytes(bus: Bus, from: SandboxPath): AsyncGenerator<Uint8Array> {
  const { content, size } = ReadReply.parse(await bus.call('sandbox::fs::read', from, { timeoutMs: WAIT_MS }));
  let bytes = 0;
  try {
    for await (const item of await bus.openReader(content)) {
      if (typeof item === 'string') throw new UsageError(`the download broke off: ${item}`);
      bytes += item.length;
      yield item;
    }
  } catch (error) {
    throw error instanceof ChannelBroken ? new UsageError(`the download broke off: ${error.message}`) : error;
  }
  // Files that the guest generates on read, such as those of /proc, have size 0.
  if (size !== 0 && bytes !== size) throw new UsageError(`the download broke off after ${bytes} of ${size} bytes`);
}
