/**
 * Calls that wait for a person: a rule of their caller's policy asks for approval.
 *
 * A waiting call is held like that of a paused caller, so it ends with its caller. What a person approved covers the
 * calls that a worker makes to carry it out. "Always" is kept in memory only, for one caller and one rule.
 */
import {
  callerKey,
  type Audit,
  type CalledFunction,
  type Decision,
  type Failure,
  type Log,
  type Principal,
} from '#contract';
import { fail } from '../errors.ts';
import type { Call, From } from './call.ts';
import type { Dispatch } from './dispatch.ts';
import type { Request } from './executor.ts';
import { Held } from './held.ts';
import type { OpenCalls } from './open-calls.ts';
import type { Settle } from './settle.ts';

/** What a person decided about one call. */
export type Answer = 'approve' | 'always' | 'deny';

export interface Asked {
  readonly call: Call;
  readonly decision: Decision;
  readonly payload: unknown;
  readonly askedAtMs: number;
  readonly untilMs: number;
}

interface ApprovalParts {
  dispatch: Dispatch;
  open: OpenCalls;
  settle: Settle;
  timeoutMs: number;
  log: Log;
  audit: Audit | undefined;
  /** Sends a call that was approved on its way. */
  resume: (request: Request, from: From) => void;
  changed: () => void;
}

export class Approvals {
  readonly #held = new Held('waits for approval');
  readonly #asked = new Map<Call, Asked>();
  /** By caller and rule. */
  readonly #always = new Set<string>();
  readonly #parts: ApprovalParts;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
  }

  /** Whether the call needs no question: it was approved, or is made for one that was. */
  covers({ principal, via, isApproved }: From, decision: Decision): boolean {
    if (isApproved || this.#always.has(alwaysKey(principal, decision))) return true;
    return via !== undefined && this.#parts.open.find(via)?.isApproved === true;
  }

  /** Holds the call until a person answers, its caller leaves or its time is over. */
  ask(fn: CalledFunction, request: Request, from: From, decision: Decision): Failure | undefined {
    const { dispatch, open, timeoutMs } = this.#parts;
    const failure = dispatch.handOver({ ...fn, owner: this.#held }, request, from);
    if (failure) return failure;
    const call = [...this.#held.serving].at(-1)!;
    const askedAtMs = Date.now();
    this.#asked.set(call, { call, decision, payload: request.frame.data, askedAtMs, untilMs: askedAtMs + timeoutMs });
    setTimeout(() => {
      if (open.find(call.id) === call && this.#asked.has(call))
        this.#deny(call, `no answer within ${timeoutMs / 1000} s`);
    }, timeoutMs).unref();
    this.#parts.changed();
    return undefined;
  }

  get count(): number {
    return this.#held.serving.size;
  }

  /** Those that still wait, oldest first. */
  list(): Asked[] {
    for (const call of this.#asked.keys()) if (!this.#held.serving.has(call)) this.#asked.delete(call);
    return [...this.#asked.values()];
  }

  answer(id: string, answer: Answer, by: Principal): void {
    const asked = this.list().find(({ call }) => call.id === id);
    if (!asked) throw fail('NOT_FOUND', { text: `call ${id.slice(0, 64)} does not wait for approval, or no longer` });
    const { call, decision } = asked;
    const target = { call: id, function: call.functionId, rule: decision.rule };
    this.#parts.log.info('a person answered', { answer, by: by.id, ...target });
    this.#parts.audit?.acted(answer, by, target);
    if (answer === 'deny') return this.#deny(call, `${by.label} said no`);
    if (answer === 'always') this.#always.add(alwaysKey(call.principal, decision));
    this.#asked.delete(call);
    const [held] = this.#held.take((one) => one === call);
    if (!held) return;
    this.#parts.open.end(call);
    this.#parts.resume(held.request, { ...held.from, isApproved: true });
    this.#parts.changed();
  }

  #deny(call: Call, why: string): void {
    const { settle } = this.#parts;
    const { rule } = this.#asked.get(call)!.decision;
    this.#asked.delete(call);
    this.#held.take((one) => one === call);
    const failure = fail('forbidden', { text: `${call.functionId} was not approved: ${why} (policy ${rule})` });
    settle.abandon(call, failure.code);
    settle.refuse(call.waiting, call.functionId, failure);
    this.#parts.changed();
  }
}

function alwaysKey(principal: Principal, { rule }: Decision): string {
  return JSON.stringify([callerKey(principal), rule]);
}
