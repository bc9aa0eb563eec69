/** attach: streams a job's output through a channel, and takes its input through another. */
import { z } from 'zod';

import { wire } from '#contract';
import { ChannelRefSchema } from '#protocol';
import { incoming } from './attachments.ts';
import type { BackgroundJob } from './background-job.ts';
import type { InputFaults } from './input-faults.ts';
import { codeOfJobFault, JobFault } from './job-fault.ts';
import { defineJobOperation } from './job-operation.ts';
import { SignalName } from './signals.ts';
import { TerminalSize } from './terminal-size.ts';

/** A caller is detached when the program does not read its input for this long. */
const WRITE_MS = 600_000;

/** A text item from the caller. */
const Control = z.union([
  z.object({ signal: SignalName }),
  z.object({ eof: z.literal(true) }),
  z.object({ resize: z.tuple([TerminalSize.shape.cols, TerminalSize.shape.rows]) }),
]);

const UNKNOWN_CONTROL =
  'a text item is {"signal": "INT"}, {"eof": true} or {"resize": [cols, rows]}; input for the program is a binary item';

export const attach = (worker: string) =>
  defineJobOperation({
    summary:
      'Stream the output of a background job through a channel as it comes, and with `input: true` write to it through another.',
    details:
      'Binary items of the reader are standard output. Text items are JSON: `{"t":"err","at","base64"}` standard error, ' +
      '`{"t":"lost","at","bytes"}` output that was dropped because this caller reads too slowly, `{"t":"error","at","code","message"}` input that was not taken, `{"t":"exit","at","status","exit_code"}` the last one. ' +
      'Binary items of the writer are input, text items `{"signal":"INT"}`, `{"eof":true}` or `{"resize":[cols, rows]}`. Leaving the channel does not end the job.',
    effect: 'execute',
    permissions: ['process.run'],
    request: z
      .object({
        job_id: z.string().describe(`From ${worker}::exec_bg.`),
        since: wire.uint64().default(0).describe(`Offset to begin at, as in ${worker}::output.`),
        input: z.boolean().default(false).describe('Whether to write to the job as well.'),
      })
      .meta({ title: 'AttachRequest' }),
    response: z
      .object({
        reader: ChannelRefSchema.describe('The end of the channel to read from.'),
        writer: ChannelRefSchema.optional().describe('The end of the channel to write to, with `input`.'),
        next: wire.uint64().describe('Output so far, in bytes.'),
      })
      .meta({ title: 'AttachResponse' }),
    reads: { line: ['job_id'] },
    errors: ['S210', 'S216', 'S220', 'S221', 'S223', 'S224'],

    async handle({ job_id, since, input }, { jobs, attachments }, { bus, log }) {
      const job = jobs.find(job_id);
      const next = job.ring.end;
      if (since > next) throw new JobFault('beyond-end', `\`since\` is ${since}, but only ${next} bytes came`);
      // Throws early if the job takes no input.
      if (input) void job.input;
      const { reader, gone, faults } = await attachments.open(job, since, bus);
      if (!input) return { reader, next };

      const ends = await bus.createChannel();
      const items = incoming(await bus.openReader(ends.reader), gone);
      void feed(job, items, faults).catch((error: unknown) =>
        log.debug('input of a job ended', { reason: String(error) }),
      );
      return { reader, writer: ends.writer, next };
    },
  });

/** The channel stays open after a fault: the next item may be a signal. */
async function feed(job: BackgroundJob, items: AsyncIterable<Uint8Array | string>, faults: InputFaults): Promise<void> {
  for await (const item of items) {
    try {
      if (typeof item !== 'string') await job.input.write(item, WRITE_MS);
      else await obey(job, Control.safeParse(parsed(item)).data);
    } catch (error) {
      if (!(error instanceof JobFault) || error.reason === 'full') throw error;
      faults.add({ code: codeOfJobFault[error.reason], message: error.message });
    }
  }
}

async function obey(job: BackgroundJob, control: z.output<typeof Control> | undefined): Promise<void> {
  if (control === undefined) throw new JobFault('bad-request', UNKNOWN_CONTROL);
  if ('eof' in control) job.input.end();
  else if ('resize' in control) job.resize({ cols: control.resize[0], rows: control.resize[1] });
  else if (control.signal === 'KILL') job.kill();
  else await job.signal(control.signal);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
