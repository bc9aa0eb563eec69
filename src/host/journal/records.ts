/** Types of the journal: records, their changes, and the state of each path before and after. */
import type { IncomingCall } from '#contract';

/** The call that changes files. The scope of a call can be passed as it is. */
export interface Origin {
  readonly functionId?: string;
  readonly call?: Pick<IncomingCall, 'callId' | 'principal' | 'metadata' | 'journaled'>;
  /** Purpose of the changes, in the caller's words. */
  readonly message?: string | undefined;
}

export interface FileState {
  readonly kind: 'file';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Version (hash) of the content; undefined if the server did not read the file. */
  readonly version?: string;
  /** Difference of the new content from the before-image; only for small edits. */
  readonly delta?: Delta;
  /** Name of the before-image in the store; undefined if none was kept. */
  readonly image?: string;
}

/** An edit: keeps the first `head` and the last `tail` bytes of the before-image and puts `text` between them. */
export interface Delta {
  readonly head: number;
  readonly tail: number;
  readonly text: string;
}

export interface LinkState {
  readonly kind: 'link';
  /** Target of the symlink, as latin1: one char for each byte. */
  readonly to: string;
}

export interface DirectoryState {
  readonly kind: 'directory';
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Name of the removed directory in the store. */
  readonly tree?: string;
  /** Sum over everything below (`TreeSum`); undefined if it was not computed. */
  readonly contents?: string;
}

export interface AbsentState {
  readonly kind: 'absent';
}

/** An entry that undo cannot restore, such as a socket. */
export interface OtherState {
  readonly kind: 'other';
}

export type State = AbsentState | FileState | LinkState | DirectoryState | OtherState;

export const ABSENT: AbsentState = { kind: 'absent' };

export interface JournalChange {
  /** Relative to the root of the journal, with `/`; absolute if it is outside the root. */
  readonly path: string;
  /** `put`: content or type changed. `move`: renamed from `from`. `mode`: only permission bits or owner changed. */
  readonly kind: 'put' | 'move' | 'mode';
  /** Former path of a move. */
  readonly from?: string;
  readonly before: State;
  readonly after: State;
}

/** Everything that one call changed. */
export interface JournalRecord {
  readonly seq: number;
  readonly at: number;
  readonly functionId?: string;
  readonly callId?: string;
  /** Id of the principal that called. */
  readonly caller?: string;
  /** Its name, for lists; ids of sessions mean nothing after a restart. */
  readonly callerLabel?: string;
  readonly sessionId?: string;
  readonly turnId?: string;
  readonly message?: string;
  /** Name of a checkpoint; a checkpoint has no changes. */
  readonly label?: string;
  /** Records that this one undid. */
  readonly undoes?: readonly number[];
  /** Undone paths by record number, of records that this one undid in part. */
  readonly undoesOnly?: Readonly<Record<number, readonly string[]>>;
  /** The record that undid the last of its changes. */
  undoneBy?: number;
  /** Paths of its changes that are undone, while others are not. */
  undonePaths?: Set<string>;
  /** Bytes of its lines in the log. */
  logBytes: number;
  readonly changes: JournalChange[];
}

/** The fields of a record that each of its log lines repeats. */
export type RecordHead = Omit<JournalRecord, 'changes' | 'undoneBy' | 'undonePaths' | 'logBytes' | 'seq' | 'at'>;

const MAX_ID = 200;

/** Fields without a value are undefined, which the log leaves out. */
export function headOf({ functionId, call, message }: Origin): RecordHead {
  return {
    functionId,
    callId: call?.callId,
    caller: call?.principal?.id,
    callerLabel: call?.principal?.label?.slice(0, MAX_ID),
    message,
    sessionId: idIn(call?.metadata, 'session_id'),
    turnId: idIn(call?.metadata, 'turn_id'),
  };
}

function idIn(metadata: unknown, field: string): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const value = (metadata as Record<string, unknown>)[field];
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_ID) : undefined;
}

/** True if undo cannot restore the state. */
export function isLost(state: State): boolean {
  return state.kind === 'other' || (state.kind === 'file' && state.image === undefined);
}
