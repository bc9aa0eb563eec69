/**
 * sed: finds and replaces in files, line by line.
 *
 * Text that did not match keeps its bytes, a file without a match is not written, and no file is changed before all
 * paths are checked.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { FileFault, type SedRequest } from '#host';
import { belowFields } from './glob-fields.ts';
import { defineOperation } from './file-operation.ts';
import { noteField } from './note.ts';

const FsSedFileResult = wire.named(
  'FsSedFileResult',
  z.object({
    path: z.string().describe('The file as sent, or its absolute path when it was found below `path`.'),
    replacements: wire.uint64(),
    success: z.boolean(),
    error: z.string().nullish().describe('Why the file was not changed; absent on success.'),
    note: noteField,
  }),
);

export const sed = defineOperation({
  summary: 'Find and replace in files.',
  details:
    'Each line is taken alone, without its ending: no pattern reaches over lines, and `$` is the end of a line. Regexes ' +
    'have the syntax of the Rust regex crate; the replacement refers to groups as `$1`, `${1}` or `$name`, and `$$` is a ' +
    'dollar sign. A reference to no group is refused. Files must be UTF-8. A link is followed and stays.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['files[]'], trees: ['path'] },
  failsInItems: 'results',
  request: z
    .object({
      files: z.array(z.string()).default([]).describe('Files, absolute. Either these or `path`.'),
      path: z
        .string()
        .nullable()
        .default(null)
        .describe('A file, or a directory for the files below; absolute. Either this or `files`.'),
      ...belowFields,
      pattern: z.string().describe('The regex, or the literal text when regex is false.'),
      replacement: z.string().describe('Replacement text; literal when regex is false.'),
      regex: z.boolean().default(true).describe('Whether pattern is a regex; with false it is literal text.'),
      first_only: z.boolean().default(false).describe('Replace only the first match of each line.'),
      ignore_case: z.boolean().default(false).describe('Match upper and lower case alike.'),
    })
    .meta({ title: 'SedRequest' }),
  response: z
    .object({
      results: z.array(FsSedFileResult).describe('One per file examined.'),
      total_replacements: wire.uint64(),
      note: z.string().optional().describe('Present when nothing matched.'),
    })
    .meta({ title: 'SedResponse' }),
  reads: { line: ['pattern', 'files', 'path'] },
  errors: ['S210', 'S211', 'S212', 'S215', 'S216', 'S217'],
  examples: [{ files: ['/tmp/notes.md'], pattern: '\\bteh\\b', replacement: 'the' }],

  async handle(request, { files }, scope) {
    const results = await files.sed(
      {
        where: whereIn(request),
        pattern: request.pattern,
        replacement: request.replacement,
        isRegex: request.regex,
        firstOnly: request.first_only,
        ignoreCase: request.ignore_case,
      },
      scope,
    );
    const total = results.reduce((sum, { replacements }) => sum + replacements, 0);
    return {
      results: results.map(({ path, replacements, problem, note }) => ({
        path,
        replacements,
        success: problem === undefined,
        ...(problem !== undefined && { error: problem }),
        ...(note !== undefined && { note }),
      })),
      total_replacements: total,
      ...(total === 0 && { note: `no match in ${results.length} files: nothing was changed` }),
    };
  },
});

type Fields = Pick<z.output<typeof sed.request>, 'files' | 'path' | keyof typeof belowFields>;

function whereIn({ files, path, recursive, include_glob, exclude_glob }: Fields): SedRequest['where'] {
  if (files.length > 0 === (path !== null)) {
    throw new FileFault('bad-request', 'either `files` or `path` must be given, and not both');
  }
  return path === null ? { files } : { path, recursive, includeGlobs: include_glob, excludeGlobs: exclude_glob };
}
