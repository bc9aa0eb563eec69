/**
 * The failures of coder, and the host's reasons as such.
 *
 * C211 and C215 have one wording each for two reasons: a protected path looks like a missing one, and a dangling
 * symlink like one that points outside.
 */
import { defineErrors, fixRequest, type Door, type Failure } from '#contract';
import { workspaceCodes, workspaceFailures as shared } from '#file-functions';
import {
  HostError,
  LayerError,
  NoRecord,
  pathHint,
  RegexError,
  ReplacementError,
  TimeLimitError,
  type Jail,
  type UndoConflict,
  type UndoLoss,
} from '#host';

export const errors = defineErrors({
  C210: shared.malformed,
  C211: shared.missing,
  C213: shared.tooLarge('max_read_bytes or max_write_bytes'),
  C215: {
    meaning: 'The path leaves base_path, by its names or through a symlink.',
    http: 403,
    message: (d: { path: string }) =>
      `${d.path} leaves base_path or goes through a dangling symlink; send a path below base_path`,
  },
  C216: shared.broken,
  C217: {
    meaning: 'The file exists and the request does not ask to overwrite it.',
    http: 409,
    message: (d: { path: string; advice?: string }) => `${d.path} already exists${d.advice ?? ''}`,
  },
  C221: {
    meaning: 'The file is no longer at the version that the request expects.',
    http: 409,
    message: (d: { path: string; expected: string; actual: string; fix: Record<string, unknown> }) =>
      `${d.path} is at version ${d.actual}; the request expects ${d.expected}: read the file again`,
    // An error about one file of the request; the fix is a whole request for it.
    extra: (d: { fix: Record<string, unknown> }) => fixRequest(d.fix, undefined),
  },
  C222: {
    meaning:
      'A chunk of a patch matches nowhere, matches in several places, or is already applied. No file was changed.',
    http: 409,
    message: (d: { problem: string; fix?: { patch: string } }) => d.problem,
    fix: (d: { fix?: { patch: string } }) => d.fix,
    extra: ({ problem, fix, ...facts }: { problem: string; fix?: object }) => facts,
  },
  C223: {
    meaning: 'A file was changed since the record to undo. Nothing was undone.',
    http: 409,
    message: ({ conflicts: [first, ...more] }: { conflicts: readonly UndoConflict[] }) =>
      `${first!.path} was changed since its record (left ${first!.left_version}, found ${first!.found_version})${more.length > 0 ? `, and ${more.length} more` : ''}; nothing was undone. on_conflict "merge" keeps later changes of other lines, "skip" leaves such files unchanged`,
    fix: ({ conflicts }: { conflicts: readonly UndoConflict[] }) =>
      conflicts.every(({ mergeable }) => mergeable) ? { on_conflict: 'merge' } : undefined,
    extra: ({ conflicts }: { conflicts: readonly UndoConflict[] }) => ({ conflicts }),
  },
  C224: {
    meaning: 'The journal has no such record, label or turn, nothing to undo, or the record belongs to another caller.',
    http: 404,
    message: (d: { problem: string; fix?: { anyone: true } }) => d.problem,
    fix: (d: { fix?: { anyone: true } }) => d.fix,
  },
  C227: {
    meaning: 'The former content is no longer in the journal, or was damaged there. Nothing was undone.',
    http: 410,
    message: (d: { problem: string; losses: readonly UndoLoss[] }) => d.problem,
    extra: ({ losses }: { losses: readonly UndoLoss[] }) => ({ losses }),
  },
  C230: {
    meaning: 'There is no such change, or it cannot be used now. The text says why.',
    http: 404,
    message: (d: { problem: string; fix?: Record<string, unknown> }) => d.problem,
    fix: (d: { fix?: Record<string, unknown> }) => d.fix,
  },
});

const codeFor = { ...workspaceCodes('C'), exists: 'C217' } as const;

/** Callers through MCP, HTTP or the CLI also get a suggested path. */
export function translate(error: unknown, call?: { context: { jail: Jail }; door?: Door }): Failure | undefined {
  if (error instanceof RegexError || error instanceof ReplacementError) {
    return errors.fail('C210', { problem: error.message }, error);
  }
  if (error instanceof TimeLimitError) return errors.fail('C216', { problem: error.message }, error);
  if (error instanceof NoRecord) return noRecord(error);
  if (error instanceof LayerError)
    return errors.fail('C230', { problem: error.message, ...(error.fix && { fix: error.fix }) }, error);
  if (!(error instanceof HostError)) return undefined;
  const hint = call?.door ? pathHint(error, call.context.jail) : '';
  return errors.fail(codeFor[error.reason], { path: error.path, problem: error.message + hint, hint }, error);
}

function noRecord(error: NoRecord): Failure {
  const problem = `${error.message}; coder::checkpoints lists the records`;
  return error.isEvicted
    ? errors.fail('C227', { problem, losses: [] }, error)
    : errors.fail('C224', { problem, ...(error.isForeign && { fix: { anyone: true } }) }, error);
}
