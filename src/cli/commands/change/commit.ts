/** workcell change commit: puts a change into the workspace. */
import { z } from 'zod';

import type { Connection } from '#client';
import { UsageError, type Command, type CommandInput } from '../../command.ts';
import { addressOptions, text, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { CLI } from './call.ts';

const Reply = z.object({
  committed: z.string(),
  seq: z.number().optional(),
  files: z.array(
    z.object({ path: z.string(), kind: z.string(), from: z.string().optional(), merged: z.boolean().optional() }),
  ),
  left_out: z.array(z.object({ path: z.string(), why: z.string() })),
  closed: z.boolean(),
});

const CHOICES = ['refuse', 'merge', 'mine', 'theirs'];

export const changeCommit: Command = {
  name: 'change commit',
  summary: 'Commit a change: put its files into the workspace, all or nothing.',
  details:
    'Where the configuration lets only people commit, `workcell change approve` does. With paths, only those are committed and the change stays open. ' +
    '`workcell undo --seq N` takes a commit back.',
  usage: 'CHANGE [PATH…]',
  options: {
    'on-conflict': {
      type: 'string',
      value: CHOICES.join('|'),
      description: 'If a file was changed in the workspace too. Default refuse: nothing is committed.',
    },
    version: {
      type: 'string',
      value: 'VERSION',
      description: 'Commit only if the change is still the one that `workcell change diff` showed with this version.',
    },
    git: { type: 'boolean', description: 'Take new objects, moved references and the index of repositories too.' },
    'dry-run': { type: 'boolean', description: 'Show the files to commit, without changing them.' },
    message: { type: 'string', short: 'm', value: 'TEXT', description: 'Purpose of the commit, for the journal.' },
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },
  minWords: 1,
  examples: ['workcell change commit try-it', 'workcell change commit try-it src --on-conflict merge'],

  run: commitBy(withEngine),
};

type Connect = (options: CommandInput['options'], use: (bus: Connection) => Promise<unknown>) => Promise<unknown>;

/** Runs the command over a connection that says as which caller it commits. */
export function commitBy(connect: Connect): Command['run'] {
  return async ({ words: [change, ...paths], options }) => {
    const onConflict = text(options['on-conflict']);
    if (onConflict !== undefined && !CHOICES.includes(onConflict)) {
      throw new UsageError(`--on-conflict must be one of ${CHOICES.join(', ')}`);
    }
    const message = text(options.message);
    const version = text(options.version);
    const asked = {
      change,
      ...(paths.length > 0 && { paths }),
      ...(onConflict !== undefined && { on_conflict: onConflict }),
      ...(message !== undefined && { message }),
      ...(version !== undefined && { expected_version: version }),
      git: options.git === true,
      dry_run: options['dry-run'] === true,
    };
    const reply = await connect(options, (bus) => bus.call('change::commit', asked, CLI));
    printReply(options, reply, () => shown(Reply.parse(reply), asked.dry_run));
    return EXIT.ok;
  };
}

function shown({ committed, seq, files, left_out, closed }: z.output<typeof Reply>, isDryRun: boolean): string {
  const undo = seq === undefined ? '' : `; workcell undo --seq ${seq} takes it back`;
  const head = isDryRun ? `would commit ${committed}` : `committed ${committed}${undo}`;
  return [
    head,
    ...files.map(
      ({ path, kind, from, merged }) =>
        `  ${kind} ${from === undefined ? '' : `${from} -> `}${path}${merged ? ' (merged)' : ''}`,
    ),
    ...left_out.map(({ path, why }) => `  left out ${path} (${why})`),
    ...(closed || isDryRun ? [] : ['The change stays open with the rest.']),
    '',
  ].join('\n');
}
