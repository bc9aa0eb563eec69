/** workcell log: prints the journal records of changed files. */
import { z } from 'zod';

import { UsageError, type Command } from '../command.ts';
import { addressOptions, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printReply } from '../print.ts';

const Reply = z.object({
  records: z.array(
    z.object({
      seq: z.number(),
      ts: z.number(),
      function_id: z.string().optional(),
      caller: z.string().optional(),
      turn_id: z.string().optional(),
      label: z.string().optional(),
      message: z.string().optional(),
      files: z.array(z.string()),
      file_count: z.number(),
      undone_by: z.number().optional(),
      changes: z
        .array(
          z.object({
            path: z.string(),
            kind: z.string(),
            from: z.string().optional(),
            hunks: z.array(z.object({ lines: z.array(z.string()) })).optional(),
          }),
        )
        .optional(),
    }),
  ),
});

const UUID = /:[\da-f]{8}-[\da-f-]{27}$/;

type Row = z.output<typeof Reply>['records'][number];

export const log: Command = {
  name: 'log',
  summary: 'Show changes of files, newest first, with the changed lines.',
  details: 'With paths, shows only records that changed them or a path below.',
  usage: '[PATH…]',
  options: {
    limit: { type: 'string', value: 'N', description: 'Most records to show. Default 10.' },
    names: { type: 'boolean', description: 'Show one line per record, without the changes.' },
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },

  async run({ words, options }) {
    const limit = Number(options.limit ?? 10);
    if (!Number.isInteger(limit) || limit < 1) {
      throw new UsageError(`--limit must be a whole number from 1 (got ${String(options.limit)})`);
    }
    const asked = { limit, diffs: options.names !== true, ...(words.length > 0 && { paths: words }) };
    const reply = await withEngine(options, (bus) => bus.call('coder::checkpoints', asked));
    printReply(options, reply, () => shownAll(Reply.parse(reply).records) || 'No records.\n');
    return EXIT.ok;
  },
};

function shownAll(rows: Row[]): string {
  const undoneBy = new Map(rows.map(({ seq, undone_by }) => [seq, undone_by]));
  return rows.map((row) => shown(row, stateOf(row.undone_by, undoneBy))).join('\n');
}

/** An undo can be undone too, which redoes. */
function stateOf(undone: number | undefined, undoneBy: ReadonlyMap<number, number | undefined>): string {
  const steps: string[] = [];
  for (let next = undone; next !== undefined; next = undoneBy.get(next)) {
    steps.push(`${steps.length % 2 === 0 ? 'undone' : 'redone'} by ${next}`);
  }
  return steps.length === 0 ? '' : ` (${steps.join(', ')})`;
}

function shown({ seq, ts, function_id, caller, turn_id, label, message, ...changed }: Row, state: string): string {
  // Drops the random id of a connection: it is useless once the connection is closed.
  const who = caller?.replace(UUID, '');
  const by = [function_id, who && `by ${who}`, turn_id && `turn ${turn_id}`].filter(Boolean).join(', ');
  const { files, file_count, changes } = changed;
  const what = label === undefined ? `${file_count} changed` : `checkpoint ${JSON.stringify(label)}`;
  const lines = changes?.flatMap(changeLines) ?? files.map((path) => `    ${path}`);
  const said = message === undefined ? [] : [`    ${JSON.stringify(message)}`];
  return [`${seq}  ${new Date(ts).toISOString()}  ${what}  ${by}${state}`, ...said, ...lines, ''].join('\n');
}

function changeLines({ path, kind, from, hunks = [] }: NonNullable<Row['changes']>[number]): string[] {
  const lines = hunks.flatMap((hunk) => hunk.lines.map((line) => `      ${line}`));
  return [`    ${kind} ${from === undefined ? '' : `${from} -> `}${path}`, ...lines];
}
