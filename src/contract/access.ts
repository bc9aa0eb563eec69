/** Access: the declared subject of a function, and the decision about one call. */
import { z } from 'zod';

import type { Caller } from '#protocol';

/** Fields of a request with the subject of a call, as a function announces them. */
export const SubjectSchema = z.object({
  /**
   * Fields that hold paths: `path`, `paths[]`, `files[].path`. An empty list: no field holds a path, so rules treat the
   * path as unknown.
   */
  paths: z.array(z.string()).readonly().optional(),
  /** Fields that hold paths that may end in a range of lines: `a.ts:1-20`. */
  ranges: z.array(z.string()).readonly().optional(),
  /** Fields that hold paths of folders or files, with everything below. */
  trees: z.array(z.string()).readonly().optional(),
  /** The field that holds a command: its first word is the program. */
  program: z.string().optional(),
  /** The field that holds a line for a shell: its first word is the program, if the line is plain. */
  line: z.string().optional(),
  /** Fields that hold paths or programs in a form that is not read, such as a patch. */
  opaque: z.array(z.string()).readonly().optional(),
});
export type Subject = Readonly<z.infer<typeof SubjectSchema>>;

export type Verdict = 'allow' | 'ask' | 'deny';

/** Decision about one call, and the rule that made it. */
export interface Decision {
  readonly verdict: Verdict;
  readonly rule: string;
  /** The operator's words. */
  readonly reason?: string;
  /** Whether the calling MCP client may ask its own user to approve. */
  readonly isForClient?: boolean;
}

/** The called function as registered; without metadata if no worker serves it. */
export interface CalledFunction {
  readonly id: string;
  readonly namespace: string;
  /** All names of the namespace, if it is of another node: a rule that has one of them applies to each. */
  readonly namespaceNames?: readonly string[];
  readonly metadata?: unknown;
}

/** Decides about calls by policies with names. */
export interface AccessControl {
  decide(policy: string, fn: CalledFunction, payload: unknown): Decision;
  /** The policy of callers at other nodes of a cluster, beside that of their own node. */
  readonly nodes?: string | undefined;
  /** How long a call waits for a person. */
  readonly askTimeoutMs: number;
}

/** A call that ended or was refused, for the audit. */
export interface AuditedCall {
  readonly id: string;
  readonly functionId: string;
  readonly namespace: string;
  readonly principal: Caller;
  /** The call that it was made for. */
  readonly via?: string | undefined;
  /** Result of `Audit.arguments` when it began. */
  readonly arguments: unknown;
  /** The rule that decided, if a policy did. */
  readonly rule?: string | undefined;
  readonly isApproved?: boolean | undefined;
  /** `ok`, `exit 2`, or the code of a failure or refusal. */
  readonly outcome: string;
  readonly durationMs?: number;
  /** Exit code of the command that it ran. */
  readonly exitCode?: number;
  /** Changed files with their versions. */
  readonly changes?: unknown;
}

/** Takes records of calls that change, run, delete or were refused. */
export interface Audit {
  /** The arguments as a record may show them. */
  arguments(metadata: unknown, payload: unknown): unknown;
  record(call: AuditedCall): void;
  /** Records an action of a person on the calls of others, such as `cancel` or `pause`. */
  acted(action: string, by: Caller, target: Readonly<Record<string, string>>): void;
}
