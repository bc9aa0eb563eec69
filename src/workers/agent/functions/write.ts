/**
 * agent::write: makes files or replaces them as a whole, all or none.
 *
 * A file that this session has read, and that something else changed since, is not replaced.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { HostError, SetConflict, type SetEntry } from '#host';
import { changeNumber } from '../change-number.ts';
import { errors } from '../errors.ts';
import { inWorkspace } from '../paths.ts';
import { fitted, linesOf } from '../text-lines.ts';
import { agent } from '../worker.ts';

export const write = agent.defineFunction({
  id: 'agent::write',
  summary: 'Create files, or replace them as a whole; folders are made. All or none.',
  effect: 'write',
  permissions: ['fs.write'],
  subject: { paths: ['files[].path'] },
  isIdempotent: true,
  request: z.object({ files: z.array(z.object({ path: z.string(), content: z.string() })).min(1) }),
  response: z.object({
    change: changeNumber,
    files: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(['new', 'replaced', 'unchanged']),
        lines: wire.uint64(),
        note: z.string().optional(),
      }),
    ),
  }),
  reads: { line: ['files.path'] },
  errors: ['A210', 'A211', 'A213', 'A215', 'A216', 'A221'],
  examples: [{ files: [{ path: 'notes/today.md', content: '# Today\n' }] }],

  async handle({ files }, context, { signal, noteChange, call, functionId }) {
    const { jail, changes, sessions, maxFileBytes } = context;
    const session = sessions.of(call);
    const named = files.map(({ path, content }) => {
      const bytes = Buffer.from(content);
      const size = bytes.length;
      if (size > maxFileBytes) throw errors.fail('A213', { path, size, limit: maxFileBytes });
      using target = jail.target(inWorkspace(path, context));
      const { relativePath, stat } = target;
      if (stat && !stat.isFile()) throw new HostError('not-a-file', path);
      return { path: jail.spell(target), relativePath, content, bytes, isThere: stat !== undefined };
    });
    const twice = named.find(
      ({ relativePath }, i) => named.findIndex((one) => one.relativePath === relativePath) !== i,
    );
    if (twice) throw errors.fail('A210', { problem: `${twice.path} is in files twice` });

    const entries = named.map(({ path, relativePath, bytes, isThere }): SetEntry => {
      const expected = isThere ? session.seenVersion(relativePath) : undefined;
      return { kind: 'write', path, content: bytes, ...(expected !== undefined && { expected }) };
    });
    const scope = { signal, noteChange, call, functionId };
    const outcome = await changes.writeSet(entries, scope).catch((error: unknown) => {
      if (!(error instanceof SetConflict)) throw error;
      throw errors.fail('A221', { path: error.path, what: 'this session read it' }, error);
    });
    const made = new Map(outcome.changes.map((change) => [change.path, change]));
    for (const { path, version } of outcome.changes) if (version !== undefined) session.sawVersion(path, version);
    const change = session.numberOf(outcome.seq);
    return {
      ...(change !== undefined && { change }),
      files: named.map(({ path, content, isThere }) => {
        const kind = !made.has(path) ? 'unchanged' : isThere ? 'replaced' : 'new';
        const note = made.get(path)?.note;
        return { path, kind, lines: linesOf(content).length, ...(note !== undefined && { note }) } as const;
      }),
    };
  },

  text({ change, files }, { replyChars }) {
    const lines = [
      ...(change === undefined ? [] : [`change ${change}`]),
      ...files.map((file) => `${file.path} ${file.kind}, ${file.lines} lines${file.note ? ` (${file.note})` : ''}`),
    ];
    return fitted(lines, replyChars, (left) => `… and ${left} more files`);
  },
});
