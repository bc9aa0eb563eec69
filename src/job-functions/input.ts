/** input: writes to a job's standard input, ends it, or resizes its terminal. */
import { z } from 'zod';

import { wire } from '#contract';
import { JobFault } from './job-fault.ts';
import { defineJobOperation } from './job-operation.ts';
import { TerminalSize } from './terminal-size.ts';

const MAX_BYTES = 1_048_576;
/** Timeout for a program to read its input. */
const WRITE_MS = 10_000;

export const input = (worker: string) =>
  defineJobOperation({
    summary:
      'Write to the standard input of a background job that was started with `input: true` or `terminal`, or end it with `eof`.',
    details:
      'Answers when the program has room for all of it, or after 10 s with how much was written; send the rest later. ' +
      `Read what the program answers with ${worker}::output from \`next\` on.`,
    effect: 'execute',
    permissions: ['process.run'],
    request: z
      .object({
        job_id: z.string().describe(`From ${worker}::exec_bg.`),
        text: z.string().nullish().describe('Text to write. End it with a newline for a program that reads lines.'),
        base64: z.base64().nullish().describe('The same for bytes that are not text.'),
        eof: z.boolean().default(false).describe('End the input after it; in a terminal, type Ctrl-D.'),
        cols: TerminalSize.shape.cols.nullish().describe('New width of its terminal, together with `rows`.'),
        rows: TerminalSize.shape.rows.nullish().describe('New height of its terminal, together with `cols`.'),
      })
      .refine(({ text, base64 }) => text == null || base64 == null, 'only one of `text` and `base64` can be given')
      .refine(({ cols, rows }) => (cols == null) === (rows == null), 'give `cols` and `rows` together')
      .refine(
        ({ text, base64, eof, cols }) => text != null || base64 != null || eof || cols != null,
        'give `text`, `base64`, `eof` or the size',
      )
      .meta({ title: 'InputRequest' }),
    response: z
      .object({
        written: wire.uint64().describe('Bytes that were taken; they reach the program in order, once.'),
        next: wire.uint64().describe('Offset of the output that comes after this input.'),
      })
      .meta({ title: 'InputResponse' }),
    reads: { line: ['job_id'] },
    errors: ['S210', 'S216', 'S220', 'S221'],

    async handle({ job_id, text, base64, eof, cols, rows }, { jobs }) {
      const job = jobs.find(job_id);
      const bytes = base64 == null ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
      if (bytes.length > MAX_BYTES) {
        throw new JobFault(
          'bad-request',
          `\`text\` and \`base64\` hold at most ${MAX_BYTES} bytes, not ${bytes.length}`,
        );
      }
      const next = job.ring.end;
      if (cols != null && rows != null) job.resize({ cols, rows });
      const written = bytes.length > 0 ? await job.input.write(bytes, WRITE_MS) : 0;
      if (eof && written === bytes.length) job.input.end();
      return { written, next };
    },
  });
