/** The one connection of this page: its state, token, workers, and whether it records calls. */
import { effect, signal } from '@preact/signals';

import { BusClient, CallFailure, type BusState, type CallOptions, type ChannelEnd } from './bus.ts';
import { toEntry, type Entry, type FunctionRow } from './catalogue.ts';

export interface WorkerRow {
  id: string;
  name: string;
  description: string | null;
  version: string;
  runtime: string;
  os: string;
  pid: number | null;
  isolation: string | null;
  ip_address: string | null;
  namespace: string;
  status: string;
  connected_at_ms: number;
  active_invocations: number;
  functions: string[];
}

export const busState = signal<BusState>('connecting');
/** Whether the engine requires a token that this page does not have. */
export const wantsToken = signal(false);
/** Whether the engine refused the token that this page sent. */
export const isTokenRefused = signal(false);
/** Whether a policy applies to this page: it shows and stops calls of others only with the operator's key. */
export const wantsKey = signal(false);
/** When the engine was lost; undefined while it answers. */
export const lostAtMs = signal<number | undefined>(undefined);
export const workers = signal<WorkerRow[]>([]);
export const catalogue = signal<Entry[] | undefined>(undefined);
/** Whether this page asks the engine to record the content of calls. */
export const keepsContents = signal(localStorage.getItem('workcell.contents') !== 'off');

const TOKEN_KEY = 'workcell.token';
const NOT_A_PERSON = new Set(['console_only', 'forbidden']);

effect(() => {
  localStorage.setItem('workcell.contents', keepsContents.value ? 'on' : 'off');
  // It applies to one connection only, so each new one has to ask again.
  if (busState.value === 'open') void watchCalls(keepsContents.value);
});

/** Whether the engine lets this page act for a person. */
async function watchCalls(on: boolean): Promise<boolean> {
  try {
    await call('engine::calls::watch', { on });
    wantsKey.value = false;
  } catch (thrown) {
    if (thrown instanceof CallFailure && NOT_A_PERSON.has(thrown.fields.code)) wantsKey.value = true;
  }
  return !wantsKey.value;
}

let bus: BusClient | undefined;
/** Counts connection attempts: late events of an earlier one are ignored. */
let latest = 0;
let knownFunctions = '';

export function connect(): void {
  bus?.close();
  const own = ++latest;
  const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;
  bus = new BusClient({
    open: (path, protocols) => new WebSocket(new URL(path, location.href.replace(/^http/, 'ws')), protocols),
    token,
    onState: (state) => {
      busState.value = state;
      if (state === 'lost') lostAtMs.value ??= Date.now();
      if (state === 'lost') void askWhy(token, () => own === latest && busState.value !== 'open');
      if (state !== 'open') return;
      wantsToken.value = false;
      isTokenRefused.value = false;
      lostAtMs.value = undefined;
    },
  });
}

export function giveToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
  wantsToken.value = false;
  connect();
}

/** Connects with the operator's key; returns whether the engine accepted it. */
export function giveKey(key: string): Promise<boolean> {
  giveToken(key);
  return watchCalls(keepsContents.value);
}

/** The answer has the type that the function publishes: the engine checks it, not this page. */
export async function call<T>(functionId: string, payload: unknown = {}, options?: CallOptions): Promise<T> {
  return (await bus!.call(functionId, payload, options)) as T;
}

/** Whether a worker serves the function. */
export function isServed(key: string): boolean {
  return catalogue.value?.some((entry) => entry.key === key) ?? false;
}

/** Keys of the functions that write or delete. */
export function changingFunctions(): Set<string> {
  const changing = (catalogue.value ?? []).filter(({ effect }) => effect === 'write' || effect === 'delete');
  return new Set(changing.map(({ key }) => key));
}

export function readChannel(ref: { channel_id: string; access_key: string }, maxBytes: number): Promise<Uint8Array> {
  return bus!.readChannel(ref, maxBytes);
}

export function openChannel(end: ChannelEnd): WebSocket {
  return bus!.openChannel(end);
}

/** Loads the workers, and the catalogue if it changed. */
export async function refresh(): Promise<void> {
  const listed = await call<{ workers: WorkerRow[] }>('engine::workers::list').catch(() => undefined);
  if (!listed) return;
  workers.value = listed.workers;

  // Schemas are the bulk of the catalogue, so they are loaded only when the functions changed.
  const functions = JSON.stringify(listed.workers.map(({ id, functions: ids }) => [id, ids]));
  if (functions === knownFunctions) return;
  const asked = call<{ functions: FunctionRow[] }>('engine::functions::list', { include_internal: true });
  const rows = await asked.catch(() => undefined);
  if (!rows) return;
  catalogue.value = rows.functions.map(toEntry);
  knownFunctions = functions;
}

async function askWhy(token: string | undefined, isStillLost: () => boolean): Promise<void> {
  const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
  const answer = await fetch('/functions', { headers }).catch(() => undefined);
  if (!isStillLost()) return;
  wantsToken.value = answer?.status === 401;
  isTokenRefused.value = wantsToken.value && token !== undefined;
}
