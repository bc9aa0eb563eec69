/** Open changes with their edits so far. */

export interface OpenChange {
  change: string;
  note: string;
  began_at_ms: number;
  files_changed: number;
  bytes: number;
  busy_commands: number;
  state: 'open' | 'waiting-for-approval';
  /** Unused for longer than the configuration says. */
  is_stale: boolean;
  is_over_limit: boolean;
}

export interface DiffFile {
  path: string;
  kind: string;
  from?: string;
  is_directory?: boolean;
  old_mode?: string;
  new_mode?: string;
  new_target?: string;
  binary?: boolean;
  too_large?: boolean;
  size?: number;
  unified?: string;
}

export interface ChangeDiff {
  summary: Record<string, number>;
  deleted: string[];
  files: DiffFile[];
  trees: { path: string; files: number; bytes: number }[];
  left_out: { path: string; why: string }[];
  git: { repo: string; objects: number; refs: { name: string; from: string | null; to: string | null }[] }[];
  conflicts: { path: string; kind: string; mergeable: boolean | null; hunk?: string }[];
  commands: { command: string; at_ms: number }[];
  hosts: { host: string; verdict: string }[];
  more_activity: boolean;
  /** Version of the whole change. */
  version: string;
  truncated: boolean;
  next_after?: string;
}

/** A route to an open change; those to records of the journal are numbers. */
export const OPEN_PREFIX = 'open:';

/** Lines of a unified diff without its header. */
export function diffLines({ unified = '' }: DiffFile): string[] {
  return unified.replace(/\n$/, '').split('\n').slice(2);
}
