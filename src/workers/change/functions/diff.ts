/** change::diff: the edits of a change, with every deletion, and the conflicts that a commit would have now. */
import { z } from 'zod';

import { wire } from '#contract';
import { layerVersion, inspectLayer, planWhole, reportOf } from '#host';
import { GitRow, gitRows, LeftOutRow, Mode, Names, Version } from '../rows.ts';
import { ConflictRow } from '../conflict-row.ts';
import { change } from '../worker.ts';

const MAX_OUTPUT_BYTES = 4 * 2 ** 20;

const FileRow = wire.named(
  'ChangedFile',
  z.object({
    path: z.string(),
    kind: z
      .enum(['added', 'modified', 'deleted', 'renamed', 'mode', 'link', 'tree'])
      .describe('`link`: a new symlink, or one with another target. `tree`: a new folder of many files, see `trees`.'),
    from: z.string().optional().describe('Old path of a renamed file.'),
    is_directory: z.boolean().optional(),
    old_mode: Mode.optional(),
    new_mode: Mode.optional(),
    old_version: Version.optional(),
    new_version: Version.optional(),
    old_target: z.string().optional().describe('Former target of a symlink.'),
    new_target: z.string().optional(),
    binary: z.boolean().optional(),
    size: wire.uint64().optional(),
    unified: z.string().optional().describe('Unified diff of a text file; not of a deleted one.'),
    too_large: z.boolean().optional().describe('True if the file or its diff is too large to show.'),
  }),
);

const count = wire.uint64();

export const diff = change.defineFunction({
  id: 'change::diff',
  summary:
    'Show the edits of a change: counts, every deletion, unified diffs, and conflicts with the workspace as it is now.',
  details:
    'Compares with the files as they were when the change began. `summary` and `deleted` are whole on every page; `files` is cut at max_output_bytes, and `next_after` is the `after` of the next page.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { trees: ['paths[]'] },
  request: z.object({
    change: z.string().describe('Name of the change.'),
    paths: Names.optional().describe('Only these paths and everything below them.'),
    text: z.boolean().default(true).describe('False lists names without diffs. Default true.'),
    context_lines: wire.uint32().max(20).default(3).describe('Unchanged lines around changes. Default 3.'),
    max_output_bytes: wire
      .uint32()
      .min(1)
      .max(MAX_OUTPUT_BYTES)
      .default(256 * 1024)
      .describe('Most bytes of `files`. Default 262144, at most 4194304.'),
    after: z.string().optional().describe('Continue after this path: the `next_after` of the last page.'),
  }),
  response: z.object({
    summary: z.object({
      added: count,
      modified: count,
      deleted: count,
      renamed: count,
      mode: count,
      links: count,
      binary: count,
      bytes: count.describe('Size of all new contents.'),
    }),
    deleted: z.array(z.string()).describe('Every deleted path, up to 10000.'),
    files: z.array(FileRow).describe('By path.'),
    trees: z.array(z.object({ path: z.string(), files: count, bytes: count })),
    left_out: z.array(LeftOutRow),
    git: z.array(GitRow),
    conflicts: z.array(ConflictRow).describe('Conflicts that change::commit would refuse now.'),
    commands: z
      .array(z.object({ command: z.string(), at_ms: wire.uint64().describe('When it was started.') }))
      .describe('Commands that ran in the change, in order.'),
    hosts: z
      .array(z.object({ host: z.string(), verdict: z.enum(['allowed', 'refused', 'failed']) }))
      .describe('Hosts that these commands asked for inside the fence, each once.'),
    more_activity: z.boolean().describe('True if there were more commands or hosts than are kept.'),
    version: Version.describe(
      'Version of the whole change, on every page; pass it to change::commit as expected_version.',
    ),
    truncated: z.boolean(),
    next_after: z.string().optional(),
  }),
  reads: { line: ['change', 'paths'] },
  errors: ['W210', 'W211', 'W214', 'W215', 'W216', 'W217'],
  examples: [],

  async handle(request, { layers, live }, callScope) {
    using entered = await layers.enter(request.change, { mayExceed: true });
    const scope = live.scopeOf(entered.layer, callScope.signal);
    const inspected = await inspectLayer(scope, request.paths);
    const { conflicts } = await planWhole(inspected, scope, { onConflict: 'refuse', git: true, isPart: true });
    const report = await reportOf(inspected, {
      isText: request.text,
      contextLines: request.context_lines,
      maxOutputBytes: request.max_output_bytes,
      after: request.after,
      throwIfAborted: () => callScope.throwIfAborted(),
    });
    const { commands, hosts, isCut } = entered.layer.activity.read();
    return {
      ...report,
      ...{ left_out: [...inspected.leftOut], git: gitRows(inspected.repositories), conflicts: [...conflicts] },
      version: layerVersion(inspected),
      ...{ commands: [...commands], hosts: [...hosts], more_activity: isCut },
    };
  },
});
