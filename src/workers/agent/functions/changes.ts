/**
 * agent::changes: the file changes of this session, and git's status of the workspace.
 *
 * git runs as a command in the caller's name, so a caller that may run nothing gets the journal alone. Protected files
 * that git tracks are left out: git has their committed lines, and the fence makes them look deleted.
 */
import { z } from 'zod';

import { CallError, wire, type CallScope } from '#contract';
import { showChange } from '#host';
import { filesOf, type NumberedChange } from '../session.ts';
import { shortened } from '../shortened.ts';
import { someOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

/** Disables programs that a configuration in the repository could make git run. */
const GIT = ['-c', 'core.fsmonitor=false', '--no-optional-locks'];
const STATUS = [...GIT, 'status', '--short', '--branch'];
const DIFF = [...GIT, 'diff', '--no-ext-diff', '--no-textconv', '--no-color', '--relative'];
const CHANGED = [...DIFF, '--name-only', '-z', '--no-renames', 'HEAD'];
const GIT_MS = 20_000;
/** Lines of the reply; the earlier ones are counted. */
const MOST_CHANGES = 50;

const GitReply = z.object({
  exit_code: z.int().nullish(),
  stdout: z.string(),
  stdout_truncated: z.boolean(),
  timed_out: z.boolean(),
});

interface GitOutput {
  /** Undefined if git failed or did not run. */
  text?: string;
  isTruncated?: boolean;
  /** Why it did not run to its end; undefined also where git finds no repository or no commit. */
  problem?: string;
}

export const changes = agent.defineFunction({
  id: 'agent::changes',
  summary: 'List the changes of this session by number, and git status. With diff: the changed lines.',
  effect: 'read',
  permissions: ['fs.read'],
  subject: { paths: [] },
  calls: ['shell::exec'],
  request: z.object({ diff: z.boolean().optional() }),
  response: z.object({
    changes: z.array(
      z.object({ change: wire.uint32(), action: z.string(), files: z.array(z.string()), undone: z.boolean() }),
    ),
    git: z.string().optional().describe('Output of git status, or of git diff; absent without git.'),
    diff: z.string().optional().describe('With diff and without git: the changes of this session.'),
    problem: z.string().optional().describe('With diff: why the diff is not that of git.'),
  }),
  errors: ['A210', 'A216'],
  examples: [{}],

  async handle({ diff = false }, context, scope) {
    const session = context.sessions.of(scope.call);
    const made = session.changes();
    const { text: git, problem } = await gitOutput({ isDiff: diff }, context, scope);
    const isShown = diff && git === undefined;
    return {
      changes: made.map(({ number, record }) => ({
        change: number,
        action: (record.functionId ?? '').replace(/^agent::/, ''),
        files: filesOf(record),
        undone: record.undoneBy !== undefined,
      })),
      ...(git !== undefined && { git: cut(git, context, scope) }),
      ...(isShown && { diff: cut(diffOf(made, context), context, scope) }),
      ...(isShown && problem !== undefined && { problem }),
    };
  },

  text({ changes: made, git, diff, problem }) {
    const lines = made.map(({ change, action, files, undone }) => {
      return `change ${change}: ${action} ${someOf(files, 8)}${undone ? ' (undone)' : ''}`;
    });
    const shown = git === undefined ? diff : `git:\n${git.trimEnd() || '(no difference from HEAD)'}`;
    const last = lines.slice(-MOST_CHANGES);
    const earlier = lines.length > last.length ? [`(${lines.length - last.length} earlier changes)`] : [];
    const list = lines.length > 0 ? [...earlier, ...last] : ['no changes in this session'];
    const why = problem === undefined ? [] : [`(no git diff: ${problem})`];
    return [...list, ...why, ...(shown ? [shown] : [])].join('\n');
  },
});

function cut(text: string, context: AgentContext, { call }: CallScope): string {
  return shortened(text, { maxChars: context.replyChars, keep: () => context.sessions.of(call).keepOutput(text) });
}

/** Status, or the diff; a diff only if protected files can be left out of it. */
async function gitOutput({ isDiff }: { isDiff: boolean }, context: AgentContext, scope: CallScope): Promise<GitOutput> {
  const changed = await runGit(CHANGED, context, scope);
  // Some names are missing: nothing can be left out by name.
  if (changed.isTruncated) return { problem: 'too many files differ from HEAD; run git diff on some of them' };
  // Without names a diff would show the lines of protected files. Status shows names only.
  if (isDiff && changed.text === undefined) return changed;
  const names = changed.text?.split('\0') ?? [];
  const hidden = names.filter((name) => name !== '' && context.jail.isClosed(name));
  const within = ['.', ...hidden.map((name) => `:(exclude,literal)${name}`)];
  return runGit([...(isDiff ? [...DIFF, 'HEAD'] : STATUS), '--', ...within], context, scope);
}

/** Runs git in the workspace: by default, commands run in the directory of the server, which can be a subfolder. */
async function runGit(args: string[], { fence, root }: AgentContext, { bus }: CallScope): Promise<GitOutput> {
  try {
    const options = { timeoutMs: GIT_MS + 5000 };
    const request = { command: 'git', args, cwd: root, timeout_ms: GIT_MS, ...(fence !== 'off' && { fence }) };
    const reply = await bus.call('shell::exec', request, options);
    const { exit_code, stdout, stdout_truncated, timed_out } = GitReply.parse(reply);
    if (timed_out) return { problem: `git took longer than ${GIT_MS} ms; run git diff on some of the files` };
    if (exit_code == null) return { problem: 'git was killed; try again' };
    return exit_code === 0 ? { text: stdout, isTruncated: stdout_truncated } : {};
  } catch (error) {
    if (error instanceof CallError) return { problem: error.message };
    throw error;
  }
}

function diffOf(made: readonly NumberedChange[], { workspace: { journal }, jail }: AgentContext): string {
  if (!journal) return '';
  return made
    .filter(({ record }) => record.undoneBy === undefined)
    .flatMap(({ record }) => record.changes.map((change) => showChange(journal, jail, change)))
    .flatMap(({ path, kind, from, hunks = [] }) => [
      `${kind} ${from === undefined ? '' : `${from} → `}${path}`,
      ...hunks.flatMap(({ after_line, lines }) => [`@@ ${after_line} @@`, ...lines]),
    ])
    .join('\n');
}
