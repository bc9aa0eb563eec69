/**
 * change::commit: puts a change into the workspace, all or nothing.
 *
 * With `commit: console` in the configuration only a caller with the operator's key may; for others the change waits,
 * and a person approves it by its diff.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import {
  commitLayer,
  layerVersion,
  inspectLayer,
  planWhole,
  settleCommit,
  type OpenLayer,
  type WholePlan,
} from '#host';
import { errors } from '../errors.ts';
import { LeftOutRow, Names } from '../rows.ts';
import { change, type ChangeContext } from '../worker.ts';

const request = z.object({
  change: z.string().describe('Name of the change.'),
  paths: Names.optional().describe(
    'Commit only these paths and everything below; the change stays open with the rest.',
  ),
  on_conflict: z
    .enum(['refuse', 'merge', 'mine', 'theirs'])
    .default('refuse')
    .describe(
      'If a file was changed in the workspace too: commit nothing (default), merge by lines and commit nothing if one cannot be merged, take the file of the change, or keep that of the workspace.',
    ),
  expected_version: z
    .string()
    .optional()
    .describe('Commit only if change::diff of the same paths still has this version; else W219.'),
  git: z
    .boolean()
    .default(false)
    .describe('Take new objects, moved references and the index of repositories too. Default false.'),
  dry_run: z.boolean().default(false).describe('Return the files to commit, without changing them. Default false.'),
  message: z.string().max(500).optional().describe('Purpose of the commit, for the journal.'),
});

type Request = z.output<typeof request>;

export const commit = change.defineFunction({
  id: 'change::commit',
  summary: 'Commit a change: put its files into the workspace, all or nothing, and end the change.',
  details:
    'Refused while commands run in it. A file that was changed in the workspace too is a conflict (W213). coder::undo with the returned `seq` takes the whole commit back.',
  effect: 'delete',
  permissions: ['fs.read', 'fs.write', 'fs.delete'],
  subject: { trees: ['paths[]'] },
  request,
  response: z.object({
    committed: z.string(),
    seq: wire.uint64().optional().describe('Journal record, for `seq` of coder::undo. Missing if no file changed.'),
    files: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(['added', 'modified', 'deleted', 'renamed', 'mode', 'link', 'tree']),
        from: z.string().optional(),
        merged: z.boolean().optional().describe('True if it was merged with the file of the workspace.'),
      }),
    ),
    merged: wire.uint64().describe('Number of merged files.'),
    left_out: z.array(LeftOutRow),
    closed: z.boolean().describe('False in a dry run, and if only some paths were committed.'),
  }),
  reads: { line: ['change', 'paths'] },
  errors: ['W210', 'W211', 'W212', 'W213', 'W214', 'W215', 'W216', 'W217', 'W218', 'W219'],
  examples: [],

  async handle(asked, context, scope) {
    const layer = context.layers.find(asked.change);
    if (!asked.dry_run) requireApproval(layer, asked, context, scope);
    return await layer.alone(async () => {
      const plan = await planned(layer, asked, context, scope);
      const { rows, merged, leftOut } = plan;
      const reply = { committed: layer.name, files: [...rows], merged, left_out: [...leftOut] };
      if (asked.dry_run) return { ...reply, closed: false };
      const seq = await make(plan, layer, asked, context, scope);
      return { ...reply, ...(seq !== undefined && { seq }), closed: !plan.isPart };
    });
  },
});

async function planned(
  layer: OpenLayer,
  asked: Request,
  { live }: ChangeContext,
  scope: CallScope,
): Promise<WholePlan> {
  await settleEarlier(layer, live);
  const view = live.scopeOf(layer, scope.signal);
  const inspected = await inspectLayer(view, asked.paths);
  if (asked.expected_version !== undefined) requireShown(layerVersion(inspected), asked);
  const options = { onConflict: asked.on_conflict, git: asked.git, isPart: asked.paths !== undefined };
  const plan = await planWhole(inspected, view, options);
  const { conflicts } = plan;
  if (conflicts.length === 0) return plan;
  const paths = conflicts.slice(0, 5).map(({ path }) => path);
  const more = conflicts.length > paths.length ? `, and ${conflicts.length - paths.length} more` : '';
  const isMergeable = asked.on_conflict === 'refuse' && conflicts.every(({ mergeable }) => mergeable);
  const advice = isMergeable
    ? 'on_conflict: "merge" takes both'
    : 'on_conflict: "mine" takes those of the change, "theirs" keeps those of the workspace';
  throw errors.fail('W213', {
    problem: `${paths.join(', ')}${more} changed in the workspace since the change began; nothing was committed. ${advice}`,
    conflicts,
    ...(isMergeable && { fix: { on_conflict: 'merge' } }),
  });
}

/** Rolls an earlier failed commit back first; else this one would take its files for files of the workspace. */
async function settleEarlier({ paths }: OpenLayer, { journal }: ChangeContext['live']): Promise<void> {
  if (await journal.rollBackLeft()) return void settleCommit(paths, journal);
  throw errors.fail('W216', {
    problem: 'the roll back of an earlier change waits for space on the disk; nothing was committed. Free some space',
  });
}

async function make(
  plan: WholePlan,
  layer: OpenLayer,
  { message }: Request,
  { live, layers }: ChangeContext,
  { signal, noteChange, call, functionId }: CallScope,
): Promise<number | undefined> {
  const { journal, jail } = live;
  const { seq } = await commitLayer(plan, {
    paths: layer.paths,
    changes: live.changesFor(layer, plan),
    journal,
    jail,
    call: { signal, noteChange, call, functionId, message },
  });
  if (plan.isPart) settleCommit(layer.paths, journal);
  else await layers.end(layer);
  return seq;
}

/** A command or a call may have changed files since the diff that a person saw. */
function requireShown(version: string, { change: name, expected_version: expected }: Request): void {
  if (expected === undefined || expected === version) return;
  throw errors.fail('W219', {
    problem: `the change ${name} changed since that diff (now version ${version}); nothing was committed. Call change::diff again and review it`,
  });
}

/**
 * Only the operator's key approves: a surface can be claimed, and a worker or a trigger can call for another.
 * A model gets no approval even through a client that was given the key.
 */
function requireApproval(
  layer: OpenLayer,
  { change: name }: Request,
  { config }: ChangeContext,
  scope: CallScope,
): void {
  if (config.commit === 'agent') return;
  const { principal, via } = scope.call;
  if (principal?.approves === true && via == null && scope.door !== 'model')
    return rmSync(layer.paths.waiting, { force: true });
  writeFileSync(layer.paths.waiting, '');
  throw errors.fail('W218', {
    problem: `the change ${name} waits for approval: with \`workcell change approve ${name}\`, or in the console with the key that \`workcell approvals key\` prints`,
  });
}
