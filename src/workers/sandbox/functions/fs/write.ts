/**
 * sandbox::fs::write: writes a file into a sandbox, from text, base64 or a channel.
 *
 * The file gets the mode of the request, also when it existed before; a missing directory is reported with the fix.
 */
import { Readable } from 'node:stream';

import { z } from 'zod';

import { wire } from '#contract';
import { write as operation } from '#file-functions';
import type { FileSystem } from '#host';
import { StreamChannelRef } from '../../channel-ref.ts';
import { errors } from '../../errors.ts';
import { filesOf, sandboxIdField, inSandbox } from '../../file-function.ts';
import { isBase64 } from '../../base64.ts';
import { withMissingParent } from '../../missing-parent.ts';
import { sandbox } from '../../worker.ts';

const WriteContent = wire.named(
  'WriteContent',
  z.union([z.string(), StreamChannelRef.describe('To read the bytes from.')]),
);

export const write = sandbox.defineFunction({
  id: 'sandbox::fs::write',
  summary: 'Write a file into a sandbox, from text, base64 or a channel.',
  details: operation.details,
  effect: 'write',
  permissions: inSandbox(operation.permissions),
  isIdempotent: true,
  request: z
    .object({
      ...sandboxIdField,
      path: z.string().describe('Path in the sandbox, absolute.'),
      content: WriteContent.nullable()
        .optional()
        .describe('Text, or the end of a channel. Either this or content_b64.'),
      content_b64: z.string().nullable().default(null).describe('Bytes in base64. Either this or content.'),
      mode: z.string().default('0644').describe('Permission bits in octal.'),
      parents: z.boolean().default(false).describe('Create missing parent directories.'),
    })
    .meta({ title: 'WriteRequest' }),
  response: operation.response,
  reads: operation.reads,
  errors: ['S001', 'S002', 'S004', ...operation.errors],
  examples: [],
  deadlineMs: operation.deadlineMs,

  async handle({ sandbox_id, path, content, content_b64, mode, parents }, context, scope) {
    const body = bodyOf(content ?? null, content_b64);
    const files = filesOf(sandbox_id, context);
    const writing: FileSystem = { ...files.files, write: (...asked) => writeBody(files.files, body, asked) };
    const inline = typeof body === 'object' && 'channel_id' in body ? body : '';
    return operation.handle({ path, mode, parents, content: inline }, { ...files, files: writing }, scope);
  },
});

type Body = string | Buffer | z.output<typeof StreamChannelRef>;

function bodyOf(content: z.output<typeof WriteContent> | null, base64: string | null): Body {
  if ((content === null) === (base64 === null)) {
    const problem = content === null ? 'give content or content_b64' : 'content and content_b64 exclude each other';
    throw errors.fail('S001', { problem });
  }
  if (base64 === null) return content!;
  if (!isBase64(base64)) {
    throw errors.fail('S001', { problem: 'content_b64 is not valid base64; encode the bytes, as in "aGkK"' });
  }
  return Buffer.from(base64, 'base64');
}

/** Bytes in the request replace the stream. */
async function writeBody(files: FileSystem, body: Body, asked: Parameters<FileSystem['write']>): Promise<number> {
  const [path, stream, options, scope] = asked;
  const inline = typeof body === 'string' ? Buffer.from(body) : Buffer.isBuffer(body) ? body : undefined;
  const { parents } = options;
  const writing = files.write(path, inline ? Readable.from([inline]) : stream, options, scope);
  return withMissingParent(writing, { path, parents });
}
