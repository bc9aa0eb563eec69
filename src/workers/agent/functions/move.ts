/** agent::move: renames, moves or deletes files and folders, all or none. Nothing is replaced. */
import { basename, posix } from 'node:path';

import { z } from 'zod';

import type { SetEntry } from '#host';
import { changeNumber } from '../change-number.ts';
import { errors } from '../errors.ts';
import { inWorkspace } from '../paths.ts';
import { fitted } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

export const move = agent.defineFunction({
  id: 'agent::move',
  summary: 'Rename or move files and folders, or delete them by leaving `to` out. All or none; replaces nothing.',
  effect: 'delete',
  permissions: ['fs.read', 'fs.write', 'fs.delete'],
  subject: { trees: ['moves[].from', 'moves[].to'] },
  request: z.object({ moves: z.array(z.object({ from: z.string(), to: z.string().optional() })).min(1) }),
  response: z.object({
    change: changeNumber,
    moves: z.array(z.object({ from: z.string(), to: z.string().optional().describe('Absent if it was deleted.') })),
  }),
  reads: { line: ['moves.from', 'moves.to'] },
  errors: ['A210', 'A211', 'A215', 'A216'],
  examples: [{ moves: [{ from: 'draft.md', to: 'notes.md' }] }],

  async handle({ moves }, context, { signal, noteChange, call, functionId }) {
    const session = context.sessions.of(call);
    const gone = new Set<string>();
    const planned = moves.map(({ from, to }) => {
      const source = keyOf(from, context);
      const target = to === undefined ? undefined : destination(source.path, to, context);
      if (target && target.isThere && !gone.has(target.key)) {
        throw errors.fail('A210', {
          problem: `${target.path} already exists; delete it first, or choose another name`,
        });
      }
      gone.add(source.key);
      if (target) gone.delete(target.key);
      return { from: source.path, to: target?.path };
    });
    const entries = planned.map(({ from, to }): SetEntry => {
      return to === undefined ? { kind: 'delete', path: from } : { kind: 'move', path: from, to };
    });
    const { seq } = await context.changes.writeSet(entries, { signal, noteChange, call, functionId });
    const change = session.numberOf(seq);
    return {
      ...(change !== undefined && { change }),
      moves: planned.map(({ from, to }) => ({ from, ...(to !== undefined && { to }) })),
    };
  },

  text({ change, moves }, { replyChars }) {
    const lines = [
      ...(change === undefined ? [] : [`change ${change}`]),
      ...moves.map(({ from, to }) => (to === undefined ? `${from} deleted` : `${from} → ${to}`)),
    ];
    return fitted(lines, replyChars, (left) => `… and ${left} more`);
  },
});

function keyOf(given: string, context: AgentContext) {
  using entry = context.jail.entry(inWorkspace(given, context));
  const { stat } = entry;
  return {
    path: context.jail.spell(entry),
    key: entry.relativePath,
    isThere: stat !== undefined,
    isFolder: stat?.isDirectory() === true,
  };
}

/** Moves into a folder, under the same name, if the destination is one or ends with `/`. */
function destination(from: string, to: string, context: AgentContext) {
  const target = keyOf(to, context);
  return target.isFolder || to.endsWith('/') ? keyOf(posix.join(target.path, basename(from)), context) : target;
}
