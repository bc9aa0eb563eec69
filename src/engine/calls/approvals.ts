/**
 * Calls that wait for a person: a rule of their caller's policy asks for approval.
 *
 * A call that waits is kept like one of a paused caller, so it ends with its caller. The approval covers calls that a
 * worker makes to carry it out. "Always" is kept in memory only, for one caller and one rule.
 *
 * Where the rule says so, the connection that made the call is asked too: it may ask its own person.
 */
import {
  callerKey,
  cleanText,
  type Audit,
  type CalledFunction,
  type Decision,
  type Failure,
  type Log,
  type Principal,
} from '#contract';
import { QuestionAnswerSchema, type EventFrame } from '#protocol';
import { fail } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Call, From, Waiting } from './call.ts';
import { clipJson } from './clip-json.ts';
import type { Dispatch } from './dispatch.ts';
import type { Request } from './executor.ts';
import type { OpenCalls } from './open-calls.ts';
import type { Settle } from './settle.ts';
import { WaitingCalls } from './waiting-calls.ts';

/** Decision of a person about one call. */
export type Answer = 'approve' | 'always' | 'deny';

const MAX_WHY = 100;
/** Calls made for calls; a longer chain is not followed. */
const MAX_NESTING = 32;

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
  timeoutMs: () => number;
  log: Log;
  audit: Audit | undefined;
  /** Dispatches a call that was approved. */
  resume: (request: Request, from: From) => void;
  changed: () => void;
}

export class Approvals {
  readonly #waiting = new WaitingCalls('waits for approval');
  readonly #asked = new Map<Call, Asked>();
  /** Remembered approvals, by caller and rule. */
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

  /** Holds the call until a person answers, its caller disconnects or its time limit passes. */
  ask(fn: CalledFunction, request: Request, from: From, decision: Decision): Failure | undefined {
    const { dispatch, open } = this.#parts;
    const timeoutMs = this.#parts.timeoutMs();
    const failure = dispatch.handOver({ ...fn, owner: this.#waiting }, request, from);
    if (failure) return failure;
    const call = [...this.#waiting.serving].at(-1)!;
    const askedAtMs = Date.now();
    this.#asked.set(call, { call, decision, payload: request.frame.data, askedAtMs, untilMs: askedAtMs + timeoutMs });
    setTimeout(() => {
      if (open.find(call.id) === call && this.#asked.has(call))
        this.#deny(call, `no answer within ${timeoutMs / 1000} s`);
    }, timeoutMs).unref();
    this.#askClient(this.#asked.get(call)!);
    this.#parts.changed();
    return undefined;
  }

  get count(): number {
    return this.#waiting.serving.size;
  }

  /** Questions that still wait, oldest first. */
  list(): Asked[] {
    for (const call of this.#asked.keys()) if (!this.#waiting.serving.has(call)) this.#asked.delete(call);
    return [...this.#asked.values()];
  }

  answer(id: string, answer: Answer, by: Principal): void {
    const asked = this.list().find(({ call }) => call.id === id);
    if (!asked) throw fail('NOT_FOUND', { text: `call ${id.slice(0, 64)} does not wait for approval, or no longer` });
    this.#note(asked, answer, by);
    const { call, decision } = asked;
    if (answer === 'deny') return this.#deny(call, `${by.label} said no`);
    if (answer === 'always') this.#always.add(alwaysKey(call.principal, decision));
    this.#release(call);
  }

  /** Takes the answer of a client, on the connection that was asked; other answers are dropped. */
  answerFrom(session: Session, { invocation_id, event }: EventFrame): void {
    const given = QuestionAnswerSchema.safeParse(event).data;
    const asked = given && this.list().find(({ call }) => call.id === given.id);
    if (!asked?.decision.isForClient) return;
    const waiting = this.#clientOf(asked.call);
    if (waiting?.session !== session || waiting.invocationId !== invocation_id) return;
    const { call } = asked;
    this.#note(asked, given!.approved ? 'approve' : 'deny', call.principal, { through: 'client' });
    if (given!.approved) this.#release(call);
    else this.#deny(call, `the person at ${call.principal.label} ${cleanText(given!.why ?? '', MAX_WHY) || 'said no'}`);
  }

  /** Ends the waiting calls that were made for an ended call: no caller needs them any more. */
  outerEnded(id: string): void {
    if (this.#asked.size === 0) return;
    for (const { call } of this.list()) if (call.via === id) this.#parts.settle.breakOff(call);
  }

  #askClient({ call, decision, payload, untilMs }: Asked): void {
    const waiting = decision.isForClient ? this.#clientOf(call) : undefined;
    if (!waiting?.takesQuestions) return;
    const event = {
      ...{ type: 'question', id: call.id, function_id: call.functionId, line: call.line ?? null },
      payload: JSON.parse(clipJson(payload).json.toString()) as unknown,
      ...{ rule: decision.rule, reason: decision.reason ?? null, until_ms: untilMs },
    };
    waiting.session.link.send({ type: 'invocationevent', invocation_id: waiting.invocationId, seq: 0, event });
  }

  /** The connection that made the outermost call of a chain: only that client can ask a person. */
  #clientOf(call: Call): Waiting | undefined {
    let outer: Call | undefined = call;
    for (let depth = 0; outer?.via !== undefined && depth < MAX_NESTING; depth++)
      outer = this.#parts.open.find(outer.via);
    return outer?.waiting;
  }

  #note({ call, decision }: Asked, answer: Answer, by: Principal, more: Record<string, string> = {}): void {
    const target = { call: call.id, function: call.functionId, rule: decision.rule, ...more };
    this.#parts.log.info('a person answered', { answer, by: by.id, ...target });
    this.#parts.audit?.acted(answer, by, target);
  }

  #release(call: Call): void {
    this.#asked.delete(call);
    const [waiting] = this.#waiting.take((one) => one === call);
    if (!waiting) return;
    this.#parts.open.end(call);
    this.#parts.resume(waiting.request, { ...call, isApproved: true });
    this.#parts.changed();
  }

  #deny(call: Call, why: string): void {
    const { settle } = this.#parts;
    const { rule } = this.#asked.get(call)!.decision;
    this.#asked.delete(call);
    this.#waiting.take((one) => one === call);
    const failure = fail('forbidden', { text: `${call.functionId} was not approved: ${why} (policy ${rule})` });
    settle.abandon(call, failure.code);
    settle.refuse(call.waiting, call.functionId, failure);
    this.#parts.changed();
  }
}

function alwaysKey(principal: Principal, { rule }: Decision): string {
  return JSON.stringify([callerKey(principal), rule]);
}
