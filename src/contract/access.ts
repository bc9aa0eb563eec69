/** What decides whether a call may be made: the declared subject of a function, and the decision about one call. */

/** Fields of a request that say what a call is about, for rules of the operator. */
export interface Subject {
  /** Fields that hold paths: `path`, `paths[]`, `files[].path`. */
  readonly paths?: readonly string[];
  /** Fields that hold paths of folders, or of files, with everything below. */
  readonly trees?: readonly string[];
  /** The field that holds a command: its first word is the program. */
  readonly program?: string;
  /** The field that holds a line for a shell: its first word is the program, if the line is plain. */
  readonly line?: string;
  /** Fields that hold paths or programs in a form that is not read, such as a patch or a script. */
  readonly opaque?: readonly string[];
}

export type Verdict = 'allow' | 'ask' | 'deny';

/** What was decided about one call, and by which rule. */
export interface Decision {
  readonly verdict: Verdict;
  readonly rule: string;
  /** The operator's words. */
  readonly reason?: string;
}
