/** Permission bits and owner of a state, which a change of kind `mode` sets. */
import type { State } from '../records.ts';

export interface Bits {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

export function bitsOf(state: State): Bits | undefined {
  if (state.kind !== 'file' && state.kind !== 'directory') return undefined;
  const { mode, uid, gid } = state;
  return { mode, uid, gid };
}

export function isSame(a: Bits | undefined, b: Bits): boolean {
  return a?.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

export function spell({ mode, uid, gid }: Bits): string {
  return `mode ${mode.toString(8).padStart(4, '0')} of ${uid}:${gid}`;
}
