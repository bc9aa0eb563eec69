/**
 * coder::list-folder: returns one page of a folder, sorted by the bytes of the names.
 *
 * Only the entries of the page are statted, so the first page of a huge folder is cheap, and names are cached while the
 * folder does not change, so later pages are cheaper still.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { takeTurn, toText } from '#host';
import { ENTRY_KINDS, entryInfo } from '../entry-info.ts';
import { coder } from '../worker.ts';

/** Stats of this many entries take about five milliseconds. */
const STATS_AT_ONCE = 500;

const DirEntry = wire.named(
  'DirEntry',
  z.object({
    name: z.string().describe('Name in the folder; bytes that are not UTF-8 are replaced by U+FFFD.'),
    kind: wire.named('EntryKind', z.enum(ENTRY_KINDS)),
    size: wire.uint64().describe('Bytes.'),
    mtime: wire.int64().describe('Last change, in seconds since 1970.'),
    non_accessible: z.boolean().describe('True if protected: listed here, but no call can open it.'),
  }),
);

export const listFolder = coder.defineFunction({
  id: 'coder::list-folder',
  summary: 'List one folder page by page, sorted by name, protected entries flagged.',
  details: 'Symlinks are listed as such and not followed. Both page and page_size come back as they were applied.',
  effect: 'read',
  permissions: ['fs.list'],
  subject: { paths: ['path'] },
  request: z.object({
    path: z.string().default('.').describe('The folder, relative to base_path. Default base_path itself.'),
    page: wire.uint32().default(1).describe('Which page, from 1.'),
    page_size: wire
      .uint32()
      .nullable()
      .default(null)
      .describe('Entries on a page, at most list_max_page_size. Default list_default_page_size.'),
  }),
  response: z.object({
    path: z.string().describe('The path as sent.'),
    entries: z.array(DirEntry),
    total: wire.uint64().describe('Entries in the whole folder.'),
    page: wire.uint32(),
    page_size: wire.uint32(),
    has_more: z.boolean().describe('Whether there is a next page.'),
  }),
  reads: { line: ['path'] },
  errors: ['C210', 'C211', 'C215', 'C216'],
  examples: [{}, { path: '.', page: 1, page_size: 20 }],

  async handle(request, { jail, isProtected, folderNames, defaultPageSize, maxPageSize }, scope) {
    const page = Math.max(1, request.page);
    const pageSize = Math.max(1, Math.min(request.page_size ?? defaultPageSize, maxPageSize));
    const end = page * pageSize;

    using dir = jail.openDir(request.path);
    const { names, total } = await folderNames.slice(dir, { from: end - pageSize, to: end }, scope);
    const entries: z.input<typeof DirEntry>[] = [];
    for (const [i, name] of names.entries()) {
      if (i % STATS_AT_ONCE === STATS_AT_ONCE - 1) await takeTurn(scope);
      const info = entryInfo(dir, name);
      if (info) entries.push({ name: toText(name), ...info, non_accessible: isProtected(dir.pathOf(name)) });
    }
    return { path: request.path, entries, total, page, page_size: pageSize, has_more: end < total };
  },
});
