/**
 * Calls a function as the bus would: parse the configuration, open its worker, answer, close.
 *
 * The reply is checked against the response schema; an unknown field fails the test.
 */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';

import {
  answer,
  CallControl,
  CallError,
  parseConfig,
  shippedCell,
  silentLog,
  throughDoor,
  type Bus,
  type CellConfig,
  type Door,
  type FunctionDef,
  type IncomingCall,
  type WorkerDef,
} from '#contract';
import { decoded, type Change } from '#protocol';
import { agent } from '#workers/agent';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';

const workers: Omit<WorkerDef, 'withFunctions'>[] = [coder, shell, filesystem, agent];

export interface RunOptions {
  /** Opens the worker instead of its own `open`. */
  open?: WorkerDef['open'];
  /** Surface of the call; the bus itself when absent. */
  door?: Door;
  /** Receives the file changes of the call, as if it were watched. */
  changes?: Change[];
  /** Settings of the operator for all workers, where they differ from the shipped ones. */
  cell?: Partial<CellConfig>;
  /** Principal and metadata of the call. */
  call?: Pick<IncomingCall, 'principal' | 'metadata'>;
}

/** The result, or a rejection with `code` and `message` as the caller would see them. */
export async function run<Response extends z.ZodType>(
  fn: FunctionDef<unknown, z.ZodType, Response>,
  payload: unknown,
  config: Record<string, unknown>,
  options: RunOptions = {},
): Promise<z.output<Response>> {
  const def = workers.find(({ functions }) => functions.includes(fn));
  if (!def) throw new Error(`no worker lists ${fn.id}`);

  const open = options.open ?? def.open;
  const cell = { ...shippedCell, ...options.cell };
  const context = await open(parseConfig(def.config, config, def.name), silentLog, cell);
  try {
    const { door, changes } = options;
    const metadata = door && throughDoor(door);
    const call = { callId: 'call-1', payload, metadata, wantsChanges: changes !== undefined, ...options.call };
    const surroundings = { bus: noBus, log: silentLog, control: new CallControl() };
    const reply = await answer({ def, context }, fn, call, surroundings);
    if ('result' in reply) reply.result = decoded(reply.result);
    changes?.push(...(reply.changes ?? []));
    if ('error' in reply) throw new CallError(fn.id, reply.error);

    return strictReply(fn, reply.result);
  } finally {
    await def.close(context);
  }
}

/** Throws for a reply that does not match its schema, also for one unknown field. */
export function strictReply<Response extends z.ZodType>(
  fn: Pick<FunctionDef<unknown, z.ZodType, Response>, 'id' | 'response'>,
  reply: unknown,
): z.output<Response> {
  const parsed = fn.response.parse(reply);
  if (!isDeepStrictEqual(parsed, reply)) throw new Error(`${fn.id} answers past its schema`);
  return parsed;
}

const refuse = () => Promise.reject(new Error('no bus in this test'));
const noBus: Bus = { call: refuse, createChannel: refuse, openReader: refuse, openWriter: refuse };
