/**
 * coder::create-file: creates files with their content, each completely or not at all.
 *
 * A file that exists is replaced only with `overwrite`, and keeps its mode when the request gives none.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { noteField } from '#file-functions';
import { versionOf, type JailEntry } from '#host';
import { settleEach } from '../batch.ts';
import { errors } from '../errors.ts';
import { readCurrent } from '../line-edits-current.ts';
import { coder, type CoderContext } from '../worker.ts';

const CreateFileSpec = wire.named(
  'CreateFileSpec',
  z.object({
    path: z.string().describe('The file, relative to base_path. A symlink inside base_path is followed.'),
    content: z.string().describe('The new content.'),
    // Published but not filled in, so that a file which is replaced can keep its own.
    mode: z
      .string()
      .optional()
      .meta({ default: '0644' })
      .describe('Permission bits in octal. Default 0644; a replaced file keeps its own.'),
    parents: z.boolean().default(true).describe('Whether missing folders on the way are made.'),
    overwrite: z.boolean().default(false).describe('Whether a file that exists is replaced.'),
    expected_version: z
      .string()
      .optional()
      .describe('Replace only if the file has this version, as returned by a read or an earlier change; else C221.'),
  }),
);
type CreateFileSpec = z.output<typeof CreateFileSpec>;

const CreateFileResult = wire.named(
  'CreateFileResult',
  z.object({
    path: z.string().describe('The path as sent.'),
    success: z.boolean(),
    bytes_written: wire.uint64().describe('Bytes of the content; 0 when it failed.'),
    version: z.string().optional().describe('Stands for exactly this content; for `expected_version`.'),
    note: noteField,
    error: z.string().nullish().describe('The failure as JSON text with `code` and `message`; absent on success.'),
  }),
);

export const createFile = coder.defineFunction({
  id: 'coder::create-file',
  summary: 'Create files with their content, with missing folders; existing files are kept unless overwrite is set.',
  details:
    'Files are made one after the other, and one that fails stops no other. Each appears with all its content or not ' +
    'at all.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['files[].path'] },
  isIdempotent: true,
  failsInItems: 'results',
  request: z.object({ files: z.array(CreateFileSpec).describe('The files; at least one.') }),
  response: z.object({ results: z.array(CreateFileResult).describe('One for each file, in the same order.') }),
  reads: { line: ['files.path'] },
  errors: ['C210', 'C211', 'C213', 'C215', 'C216', 'C217', 'C221'],
  examples: [{ files: [{ path: 'notes/today.md', content: '# Today\n', overwrite: true }] }],

  async handle({ files }, context, scope) {
    if (files.length === 0) throw errors.fail('C210', { problem: '`files` must not be empty' });

    const batch = { failed: { bytes_written: 0 }, scope, context };
    const work = (file: CreateFileSpec) =>
      context.changes.onTarget(file.path, scope, (target) => create(file, target, context));
    return { results: await settleEach(files, batch, work) };
  },
});

async function create(file: CreateFileSpec, target: JailEntry, { changes, maxReadBytes, maxWriteBytes }: CoderContext) {
  const { path, parents, overwrite } = file;
  const bytes = Buffer.from(file.content);
  if (bytes.length > maxWriteBytes) {
    throw errors.fail('C213', { path, size: bytes.length, limit: maxWriteBytes, key: 'max_write_bytes' });
  }
  if (target.stat && !overwrite) {
    // Only a regular file can be replaced.
    const advice = target.stat.isFile() ? '; send overwrite: true to replace it' : '';
    throw errors.fail('C217', { path, advice });
  }
  if (target.stat && !target.stat.isFile()) throw errors.fail('C216', { problem: `${path} is not a regular file` });

  if (file.expected_version !== undefined) {
    await readCurrent(
      target,
      { bytes: maxReadBytes, key: 'max_read_bytes' },
      {
        version: file.expected_version,
        fix: (version) => ({ files: [{ ...file, expected_version: version }] }),
      },
    );
  }
  const mode = file.mode === undefined ? undefined : parseMode(file.mode);
  const written = await changes.write(target, bytes, { mode, parents });
  return { bytes_written: bytes.length, version: versionOf(bytes), ...written };
}

/** Only the bits for owner, group and others are used. */
function parseMode(text: string): number {
  const [, digits] = /^(?:0o)?0*([0-7]{1,4})$/.exec(text) ?? [];
  if (digits === undefined) {
    throw errors.fail('C210', { problem: `mode must be octal digits such as "0644" (got ${JSON.stringify(text)})` });
  }
  return Number.parseInt(digits, 8) & 0o777;
}
