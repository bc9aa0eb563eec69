/** Changes that are open, as `change::list` has them, loaded again when calls end. */
import { useState } from 'preact/hooks';

import { call, catalogue } from '../session.ts';
import { useAfterChangingCalls } from './after-changing-calls.ts';

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

export interface ChangedFile {
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
  files: ChangedFile[];
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

const LIST = 'change::list';

/** Prefix of a route to an open change; routes to records of the journal are numbers. */
export const OPEN_PREFIX = 'open:';

export function useOpenChanges() {
  const [changes, setChanges] = useState<OpenChange[]>([]);
  const isServed = catalogue.value?.some(({ key }) => key === LIST) ?? false;
  const load = async () => {
    if (!isServed) return;
    const { changes: listed } = await call<{ changes: OpenChange[] }>(LIST, {});
    setChanges(listed);
  };
  // A failure shows in the card of the change; the list of records stays usable.
  useAfterChangingCalls(load, () => {}, [isServed]);
  return { changes, load };
}

/** Lines of a unified diff without its header. */
export function diffLines({ unified = '' }: ChangedFile): string[] {
  return unified.replace(/\n$/, '').split('\n').slice(2);
}
