/**
 * coder::read-file: returns one file's text or some lines of it, with its size, mtime, mode and version.
 *
 * All of it comes from the one open file: an oversized file is not read, and none can be swapped in between. Lines are
 * found without holding the file in memory, so it may be of any size.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';

import { CUT_NOTES, wire, type CallScope } from '#contract';
import { bytesAsSource, LineIndex, readImage, versionAside, type JailFile } from '#host';
import { EncodedObject } from '#protocol';
import { mtimeSecs } from '../entry-info.ts';
import { errors } from '../errors.ts';
import { textContent } from '../text-content.ts';
import { showLines, type TextWindow, type WindowSpec } from '../text-window.ts';
import { coder, type CoderContext } from '../worker.ts';

const Request = z.object({
  path: z.string().describe('The file, relative to base_path.'),
  line_from: wire.uint64().min(1).nullish().describe('First line to show, from 1. Default 1.'),
  line_to: wire
    .uint64()
    .min(1)
    .nullish()
    .describe('Last line to show, inclusive; may be beyond the end. Default: the last of the file.'),
  numbered: z
    .boolean()
    .default(false)
    .describe('Puts its number before each line, right-aligned and followed by a tab.'),
  max_output_bytes: wire
    .uint64()
    .min(1)
    .nullish()
    .describe('Most bytes of content; lines that do not fit are not shown. Default and maximum: max_read_bytes.'),
});

export const readFile = coder.defineFunction({
  id: 'coder::read-file',
  summary: 'Read one file under base_path, or some of its lines, with its size, mode, time and version.',
  details:
    'Files over max_read_bytes are refused with C213, unless the request asks for a window: with line_from, line_to, ' +
    'numbered or max_output_bytes. A window may be of a file of any size; the reply says which lines it shows and where ' +
    'to continue. A first line that does not fit is cut between two characters. A protected file looks like a missing ' +
    'one.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: ['path'] },
  request: Request,
  response: z.object({
    path: z.string().describe('The path as sent.'),
    content: z.string().describe('The text. Bytes that are not UTF-8 are replaced by U+FFFD.'),
    is_utf8: z.boolean().describe('True when the text is valid UTF-8, so that content holds every byte of it.'),
    size: wire.uint64().describe('Bytes in the file.'),
    mode: wire.uint32().describe('Permission bits as a number: 420 is 0644.'),
    mtime: wire.int64().describe('Last change, in seconds since 1970.'),
    version: z
      .string()
      .optional()
      .describe('Stands for exactly the content of the file. Left out with a window of a file over max_read_bytes.'),
    line_from: wire.uint64().optional().describe('First line shown; this and the following come with a window only.'),
    line_to: wire.uint64().optional().describe('Last line shown; one less than line_from when there is none.'),
    total_lines: wire.uint64().optional().describe('Lines in the file; absent where they were not counted.'),
    truncated: z.boolean().optional().describe('True when lines that were asked for did not fit.'),
    last_line_cut: z.boolean().optional().describe('Present and true when not even the first line fitted.'),
    next_line_from: wire.uint64().optional().describe('Line to continue with; absent at the end of the file.'),
    image: z
      .object({ mime_type: z.string(), base64: z.string() })
      .optional()
      .describe('The file as an image, instead of its text; for models only.'),
  }),
  reads: { line: ['path'], notes: CUT_NOTES },
  errors: ['C210', 'C211', 'C213', 'C215', 'C216'],
  examples: [{ path: 'README.md' }, { path: 'README.md', line_from: 1, line_to: 40, numbered: true }],

  async handle(request, context, scope) {
    const { path } = request;
    using file = context.jail.open(path);
    const { size, mode } = file.stat;
    const image = scope.door === 'model' ? await readImage(file) : undefined;
    if (image)
      return { path, content: '', is_utf8: false, size, mode: mode & 0o777, mtime: mtimeSecs(file.stat), image };

    const window = windowOf(request, context);
    const reading = window ? readWindow(file, path, window, context, scope) : readWhole(file, path, context, scope);
    const { content, is_utf8, ...more } = await reading;
    const mtime = mtimeSecs(file.stat);
    const result = { path, content: '', is_utf8, size, mode: mode & 0o777, mtime, ...more };
    return typeof content === 'string' ? { ...result, content } : new EncodedObject(result, 'content', content);
  },
});

/** Undefined when the request wants the whole unnumbered file. */
function windowOf(request: z.output<typeof Request>, { maxReadBytes }: CoderContext): WindowSpec | undefined {
  const { line_from, line_to, numbered, max_output_bytes } = request;
  if (line_from == null && line_to == null && max_output_bytes == null && !numbered) return undefined;

  const [lineFrom, lineTo] = [line_from ?? 1, line_to ?? Infinity];
  if (lineTo < lineFrom) throw errors.fail('C210', { problem: `line_to ${lineTo} is before line_from ${lineFrom}` });
  return { lineFrom, lineTo, isNumbered: numbered, maxBytes: Math.min(max_output_bytes ?? Infinity, maxReadBytes) };
}

async function readWhole(file: JailFile, path: string, { maxReadBytes }: CoderContext, scope: CallScope) {
  if (file.size > maxReadBytes) {
    const advice = '; read a part with line_from and line_to';
    throw errors.fail('C213', { path, size: file.size, limit: maxReadBytes, key: 'max_read_bytes', advice });
  }

  const bytes = await file.read();
  const [version, content] = await Promise.all([versionAside(bytes), textContent(bytes, scope)]);
  return { content, is_utf8: isUtf8(bytes), version };
}

/** A file within the limit is read whole: that also gives its version and number of lines. */
async function readWindow(
  file: JailFile,
  path: string,
  window: WindowSpec,
  { maxReadBytes, workspace }: CoderContext,
  scope: CallScope,
): Promise<TextWindow & { version?: string }> {
  const isSmall = file.size <= maxReadBytes;
  const bytes = isSmall ? await file.read() : undefined;
  const source = bytes ? bytesAsSource(bytes) : file;
  const index = bytes ? new LineIndex() : workspace.lineIndexes.of(file);
  if (bytes) await index.countLines(source, scope);

  const shown = await showLines(source, index, window, scope);
  if (shown) return bytes ? { ...shown, version: await versionAside(bytes) } : shown;

  const problem = `line_from is ${window.lineFrom}; ${path} has ${index.totalLines} lines; send a smaller line_from`;
  throw errors.fail('C210', { problem });
}
