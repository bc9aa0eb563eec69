/**
 * workcell sandbox upload: copies a file or a directory of this machine, or standard input, into sandboxes.
 *
 * The file is opened before the call, so a missing one leaves nothing behind in the sandbox.
 */
import { open, stat, type FileHandle } from 'node:fs/promises';

import { UsageError, valueOption, type Command } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { forEachSandbox } from '../../sandbox/each-sandbox.ts';
import { sendFile } from '../../sandbox/file-bytes.ts';
import { uploadTree } from '../../sandbox/trees.ts';

export const sandboxUpload: Command = {
  name: 'sandbox upload',
  summary: 'Copy a file or a directory into sandboxes; - is standard input.',
  usage: '<sandbox>… <file|directory|-> <path-in-sandbox>',
  details:
    'A sandbox is named by its id, the beginning of its id, or its name. The contents of a directory go into the directory in\n' +
    'the sandbox, with modes and symlinks; the image needs tar for it.',
  options: {
    mode: valueOption('OCTAL', 'Permissions of the file.', { default: '0644' }),
    parents: { type: 'boolean', description: 'Create missing directories.' },
    ...addressOptions,
  },
  examples: ['workcell sandbox upload lab src /home/app/src'],
  minWords: 3,

  async run({ words, options }) {
    const sandboxes = words.slice(0, -2);
    const [local, path] = words.slice(-2) as [string, string];
    if (local === '-' && sandboxes.length > 1)
      throw new UsageError('standard input goes to one sandbox, not to several');
    const isDirectory = local !== '-' && (await stat(local).catch(refuseLocal(local))).isDirectory();
    const file = isDirectory || local === '-' ? undefined : await open(local).catch(refuseLocal(local));
    const write = { path, mode: text(options.mode), parents: options.parents === true };
    try {
      return await forEachSandbox(options, sandboxes, async (bus, sandbox_id) => {
        const bytes = isDirectory
          ? await uploadTree(bus, local, { sandbox_id, path })
          : await sendFile(bus, { sandbox_id, ...write }, file ? bytesOf(file) : process.stdin);
        process.stdout.write(`uploaded ${bytes} bytes to ${sandbox_id}:${path}\n`);
        return EXIT.ok;
      });
    } finally {
      await file?.close();
    }
  },
};

function refuseLocal(local: string): (error: unknown) => never {
  return (error) => {
    throw new UsageError(`${local} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  };
}

function bytesOf(file: FileHandle): AsyncIterable<Uint8Array> {
  return file.createReadStream({ highWaterMark: 65_536, start: 0, autoClose: false }) as AsyncIterable<Buffer>;
}
