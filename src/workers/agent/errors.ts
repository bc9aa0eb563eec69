/**
 * The failures of agent, and the host's reasons as such.
 *
 * A call that a function makes to another worker fails with the code of that worker: its message is more precise about
 * commands and sandboxes.
 */
import { CallError, defineErrors, Failure, type Door } from '#contract';
import { workspaceCodes, workspaceFailures as shared } from '#file-functions';
import {
  GlobError,
  HostError,
  LayerError,
  NoRecord,
  pathHint,
  RegexError,
  SetConflict,
  TimeLimitError,
  type Jail,
  type UndoConflict,
  type UndoLoss,
} from '#host';

export const errors = defineErrors({
  A210: shared.malformed,
  A211: shared.missing,
  A213: shared.tooLarge('max_file_bytes'),
  A215: {
    meaning: 'The path leaves the workspace, by its names or through a symlink.',
    http: 403,
    message: (d: { path: string; root?: string }) =>
      `${d.path} is outside the workspace${d.root === undefined ? '' : ` ${d.root}`}, or goes through a dangling symlink`,
  },
  A216: shared.broken,
  A220: {
    meaning: 'An edit does not fit its file: the text is not there, or more than once. Nothing was changed.',
    http: 409,
    message: (d: { problems: string }) => `nothing was changed\n${d.problems}`,
  },
  A221: {
    meaning: 'A file was changed by something else since this session read or wrote it. Nothing was changed.',
    http: 409,
    message: (d: { path: string; what: string }) =>
      `${d.path} was changed by something else since ${d.what}; nothing was changed. Read it, then send the call again`,
  },
  A223: {
    meaning: 'A file was changed since the change to undo. Nothing was undone.',
    http: 409,
    message: ({ conflicts: [first, ...more] }: { conflicts: readonly UndoConflict[] }) =>
      `nothing was undone: ${first!.path} was changed since by something else${more.length > 0 ? `, and ${more.length} more` : ''}. coder::undo {"on_conflict": "merge"} through \`more\` keeps later changes of other lines`,
  },
  A224: {
    meaning: 'There is no such change, output or job in this session.',
    http: 404,
    message: (d: { problem: string }) => d.problem,
  },
  A230: {
    meaning: 'The change that this session is bound to has ended, or cannot be used now.',
    http: 404,
    message: (d: { problem: string }) => d.problem,
  },
  A227: {
    meaning: 'The former content is no longer in the journal, or was damaged there. Nothing was undone.',
    http: 410,
    message: (d: { problem: string; losses: readonly UndoLoss[] }) => d.problem,
  },
});

const codeFor = { ...workspaceCodes('A'), absolute: 'A215', exists: 'A210' } as const;

/** Callers through MCP, HTTP or the CLI also get a suggested path. */
export function translate(error: unknown, call?: { context: { jail: Jail }; door?: Door }): Failure | undefined {
  if (error instanceof CallError) return passedOn(error);
  if (error instanceof GlobError || error instanceof RegexError) {
    return errors.fail('A210', { problem: error.message }, error);
  }
  if (error instanceof LayerError) return errors.fail('A230', { problem: error.message }, error);
  if (error instanceof TimeLimitError) return errors.fail('A216', { problem: error.message }, error);
  if (error instanceof SetConflict) return errors.fail('A221', { path: error.path, what: 'this call read it' }, error);
  if (error instanceof NoRecord) return errors.fail('A224', { problem: error.message }, error);
  if (!(error instanceof HostError)) return undefined;
  const hint = call?.door ? pathHint(error, call.context.jail) : '';
  return errors.fail(codeFor[error.reason], { path: error.path, problem: error.message + hint, hint }, error);
}

/** A fix is a request to the other function, so it includes its name. */
function passedOn({ code, message, functionId, extra }: CallError): Failure {
  const { fix, fix_note, ...rest } = extra;
  const kept = fix === undefined && fix_note === undefined ? {} : { fix_note: fixNote(functionId, fix, fix_note) };
  return new Failure({ code, message, extra: { ...rest, ...kept } });
}

function fixNote(functionId: string, fix: unknown, note: unknown): string {
  if (typeof fix !== 'object' || fix === null) return String(note);
  return `The next request to ${functionId}: ${JSON.stringify(fix)}`;
}
