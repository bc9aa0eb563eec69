/** workcell undo: undoes changes of files, by any caller. */
import { z } from 'zod';

import { UsageError, type Command, type CommandInput } from '../command.ts';
import { addressOptions, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printReply } from '../print.ts';

const Reply = z.object({
  undone: z.array(z.object({ seq: z.number(), function_id: z.string().optional() })),
  redo_seq: z.number().optional(),
  files: z.array(z.object({ path: z.string(), kind: z.string(), from: z.string().optional() })),
});

export const undo: Command = {
  name: 'undo',
  summary: 'Undo changes of files: the last record, one record, or everything since a checkpoint.',
  details: 'Undoes records of any caller. `workcell log` shows the records; the undo of an undo redoes.',
  options: {
    steps: { type: 'string', value: 'N', description: 'Undo this many of the newest records. Default 1.' },
    seq: { type: 'string', value: 'N', description: 'Undo exactly this record.' },
    to: { type: 'string', value: 'N|LABEL', description: 'Undo everything after this record or checkpoint.' },
    merge: { type: 'boolean', description: 'Keep later changes of other lines in the same files.' },
    'dry-run': { type: 'boolean', description: 'Show the changes to undo, without changing files.' },
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },
  maxWords: 0,

  async run({ options }) {
    const to = typeof options.to === 'string' ? options.to : undefined;
    const asked = {
      ...number('steps', options.steps),
      ...number('seq', options.seq),
      ...(to !== undefined && (/^\d+$/.test(to) ? { to_seq: Number(to) } : { to_label: to })),
      ...(options.merge === true && { on_conflict: 'merge' }),
      dry_run: options['dry-run'] === true,
      anyone: true,
    };
    const reply = await withEngine(options, (bus) => bus.call('coder::undo', asked));
    printReply(options, reply, () => shown(Reply.parse(reply)));
    return EXIT.ok;
  },
};

function number(name: string, value: CommandInput['options'][string]): Record<string, number> {
  if (value === undefined) return {};
  if (typeof value !== 'string' || !/^\d+$/.test(value)) {
    throw new UsageError(`--${name} must be a whole number (got ${String(value)})`);
  }
  return { [name]: Number(value) };
}

function shown({ undone, redo_seq, files }: z.output<typeof Reply>): string {
  const records = undone.map(({ seq, function_id }) => `${seq}${function_id ? ` (${function_id})` : ''}`).join(', ');
  const lines = files.map(({ path, kind, from }) => `  ${kind} ${from === undefined ? '' : `${from} -> `}${path}`);
  const head =
    redo_seq === undefined ? `would undo ${records}` : `undid ${records}; workcell undo --seq ${redo_seq} redoes`;
  return `${[head, ...lines].join('\n')}\n`;
}
