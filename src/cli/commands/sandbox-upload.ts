/**
 * workcell sandbox upload: a file of this machine, or standard input, into a sandbox.
 *
 * The file is opened before the call, so one that is missing leaves nothing behind in the sandbox.
 */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { z } from 'zod';

import type { ChannelWriter } from '#protocol';
import { UsageError, type Command } from '../command.ts';
import { addressOptions, text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { tellingFailures, WAIT_MS } from '../sandbox-command.ts';

const Written = z.object({ bytes_written: z.number() });

export const sandboxUpload: Command = {
  name: 'sandbox upload',
  aliases: ['worker sandbox upload'],
  summary: 'Copy a file into a sandbox; - is standard input.',
  usage: '<sandbox-id> <file|-> <path-in-sandbox>',
  options: {
    mode: { type: 'string', value: 'OCTAL', description: 'Permissions of the file.', default: '0644' },
    parents: { type: 'boolean', description: 'Make missing directories.' },
    ...addressOptions,
  },
  minWords: 3,
  maxWords: 3,

  async run({ words, options }) {
    const [sandbox_id, local, path] = words as [string, string, string];
    const source = await openSource(local);
    return tellingFailures(options, async (bus) => {
      const { writer, reader } = await bus.createChannel();
      const request = {
        sandbox_id,
        path,
        content: reader,
        mode: text(options.mode),
        parents: options.parents === true,
      };
      const writing = bus.call('sandbox::fs::write', request, { timeoutMs: WAIT_MS });
      const sink = await bus.openWriter(writer);
      const [reply] = await Promise.all([writing, send(source, sink)]);
      const { bytes_written } = Written.parse(reply);
      process.stdout.write(`uploaded ${bytes_written} bytes to ${sandbox_id}:${path}\n`);
      return EXIT.ok;
    });
  },
};

/** A source that breaks is told, so that no half of it is kept; a sink that broke is told by the call itself. */
async function send(source: Readable, sink: ChannelWriter): Promise<void> {
  try {
    for await (const chunk of source) await sink.write(chunk as Buffer);
    await sink.end();
  } catch (error) {
    const problem = JSON.stringify({ error: String(error) });
    await sink
      .write(problem)
      .then(() => sink.end())
      .catch(() => {});
  }
}

async function openSource(local: string): Promise<Readable> {
  if (local === '-') return process.stdin;
  const file = await open(local).catch((error: unknown) => {
    throw new UsageError(`${local} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  });
  return file.createReadStream({ highWaterMark: 65_536 });
}
