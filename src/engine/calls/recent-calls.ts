/**
 * The latest ended calls, for consoles: caller, executor, function, time and outcome.
 *
 * Every call passes here, so a row is a handful of references and one short line: payloads are not kept.
 */
import type { Principal } from '#contract';
import { readErrorBody, toErrorBody } from '#protocol';
import type { Call } from './call.ts';
import type { ChangedLines, Outcome } from './reading.ts';

/** Older rows are overwritten. */
export const MAX_RECENT_CALLS = 1_000;

/** A longer error text is not searched for the code inside it. */
const MAX_READ_TEXT = 65_536;
/** Workers choose their codes; other text is not kept. */
const MAX_CODE_LENGTH = 64;
/** No function has a longer one, but a caller may send any. */
const MAX_NAMESPACE_LENGTH = 512;

export interface EndedCall {
  /** Counts every call that ended, from 1. */
  seq: number;
  id: string;
  functionId: string;
  /** Namespace of the function. Absent when the caller named an invalid one. */
  namespace?: string;
  principal: Principal;
  /** The parent call. */
  via?: string;
  /** Absent when no worker was found for it. */
  worker?: string;
  /** Name of the other node that ran it; absent when it ran here. */
  node?: string | undefined;
  startedAtMs: number;
  durationMs: number;
  /** Absent when the call succeeded. */
  code?: string;
  outcome: Outcome;
  line?: string | undefined;
  changed?: ChangedLines | undefined;
}

export type CallEnd = Pick<EndedCall, 'code' | 'outcome' | 'changed'>;

export class RecentCalls {
  readonly #rows: EndedCall[] = [];
  #count = 0;

  /** The number of the last call that ended. */
  get latest(): number {
    return this.#count;
  }

  add(call: Call, { code, outcome, changed }: CallEnd): void {
    this.#put({
      seq: this.#count + 1,
      id: call.id,
      functionId: call.functionId,
      namespace: call.namespace,
      principal: call.principal,
      via: call.via,
      worker: call.executor.label,
      node: call.executor.node?.name,
      startedAtMs: call.startedAtMs,
      durationMs: performance.now() - call.startTick,
      code,
      outcome,
      line: call.line,
      changed,
    });
  }

  /** A call that reached no worker. */
  addRefused(call: Omit<EndedCall, 'seq' | 'namespace' | 'startedAtMs' | 'durationMs'> & { namespace: string }): void {
    const namespace = call.namespace.length > MAX_NAMESPACE_LENGTH ? undefined : call.namespace;
    this.#put({ seq: this.#count + 1, ...call, namespace, startedAtMs: Date.now(), durationMs: 0 });
  }

  /** Rows after the given number that are still kept, oldest first. A number of an earlier process counts as none. */
  after(seq: number): EndedCall[] {
    const from = seq > this.#count ? 0 : seq;
    const oldest = Math.max(from, this.#count - MAX_RECENT_CALLS);
    return Array.from({ length: this.#count - oldest }, (_, at) => this.#rows[(oldest + at) % MAX_RECENT_CALLS]!);
  }

  #put(row: EndedCall): void {
    this.#rows[this.#count % MAX_RECENT_CALLS] = row;
    this.#count += 1;
  }
}

/** The code of a failed result, the worker's own if it has one. */
export function codeOf(error: unknown): string {
  const body = toErrorBody(error);
  const code = body.message.length > MAX_READ_TEXT ? body.code : readErrorBody(body).code;
  return code.length > MAX_CODE_LENGTH ? 'UNKNOWN' : code;
}
