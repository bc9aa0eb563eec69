/** The calls and callers that the engine knows, loaded while any page is open: switching pages loses nothing. */
import { signal } from '@preact/signals';

import { addReply, emptyLog, type CallLog, type CallsReply } from '../call-log.ts';
import { call } from '../session.ts';

export interface CallerRow {
  id: string;
  label: string;
  kind: string;
  client: { name: string; version: string } | null;
  /** null where the engine does not know. */
  here: boolean | null;
  last_seen_ms: number;
  calls: number;
  running: number;
  waiting: number;
  paused: boolean;
}

export const callLog = signal<CallLog>(emptyLog);
export const callers = signal<CallerRow[]>([]);
/** Whether the list of calls is frozen. */
export const isFrozen = signal(false);

export async function loadCalls(): Promise<void> {
  const listed = await call<{ callers: CallerRow[] }>('engine::callers::list').catch(() => undefined);
  if (listed) callers.value = listed.callers;
  if (isFrozen.value) return;
  const reply = await call<CallsReply>('engine::calls::list', { since: callLog.value.latest }).catch(() => undefined);
  if (reply) callLog.value = addReply(callLog.value, reply);
}

/** Calls that run or wait, made by agents, programs and people: not by the console, nor for another call. */
export function openCalls(): CallLog['running'] {
  return callLog.value.running.filter(({ via, principal }) => via === null && principal.kind !== 'page');
}
