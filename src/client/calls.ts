/** Calls that this client waits for: answered, timed out, cancelled, or lost with the connection. */
import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { CallError, hasTooManyValues, type CallOptions } from '#contract';
import {
  ChangeSchema,
  decoded,
  toErrorBody,
  type Change,
  type EventFrame,
  type InvokeFrame,
  QuestionSchema,
  type Question,
  type QuestionAnswer,
  type ResultFrame,
} from '#protocol';

interface WaitingCall {
  functionId: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  release(): void;
  onEvent?: CallOptions['onEvent'];
  onChanges?: CallOptions['onChanges'];
  onText?: CallOptions['onText'];
  onQuestion?: CallOptions['onQuestion'];
  takesEncoded?: boolean;
}

const Changes = z.array(ChangeSchema).catch([]);
/** Limit for one report of changes; larger than any report of this build. */
const MAX_CHANGE_VALUES = 65_536;
const DEFAULT_TIMEOUT_MS = 30_000;
/** Above this a Node timer fires at once. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

interface Sends {
  /** Sent for a call that should stop; with `wait`, its answer is still wanted. */
  cancel: (invocationId: string, options?: { wait: true }) => void;
  answer: (invocationId: string, answer: QuestionAnswer) => void;
}

export class Calls {
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #cancel: Sends['cancel'];
  readonly #answer: Sends['answer'];

  constructor({ cancel, answer }: Sends) {
    this.#cancel = cancel;
    this.#answer = answer;
  }

  /** Makes the frame of a call and the promise of its answer. */
  open(functionId: string, payload: unknown, options: CallOptions): { frame: InvokeFrame; answer: Promise<unknown> } {
    const id = randomUUID();
    const { namespace, metadata, traceparent, baggage } = options;
    const frame: InvokeFrame = { type: 'invokefunction', invocation_id: id, function_id: functionId, data: payload };
    if (namespace !== undefined) frame.namespace = namespace;
    if (metadata !== undefined) frame.metadata = metadata;
    if (traceparent !== undefined) frame.traceparent = traceparent;
    if (baggage !== undefined) frame.baggage = baggage;
    if (options.onEvent) frame.wants_events = true;
    if (options.onChanges) frame.wants_changes = true;
    if (options.onQuestion) frame.takes_questions = true;
    return { frame, answer: this.#wait(id, functionId, options) };
  }

  isWaiting(invocationId: string): boolean {
    return this.#waiting.has(invocationId);
  }

  /** An error thrown by the callback rejects its call: no other code could handle it. */
  event({ invocation_id: id, event }: EventFrame): void {
    const call = this.#waiting.get(id);
    const question = call?.onQuestion && QuestionSchema.safeParse(event).data;
    if (question) return void this.#ask(id, call, question);
    try {
      call?.onEvent?.(event);
    } catch (error) {
      this.#take(id)?.reject(error);
      this.#cancel(id);
    }
  }

  async #ask(id: string, call: WaitingCall, question: Question): Promise<void> {
    try {
      const approval = await call.onQuestion!(question);
      if (approval && this.isWaiting(id)) this.#answer(id, { type: 'answer', id: question.id, ...approval });
    } catch (error) {
      this.#take(id)?.reject(error);
      this.#cancel(id);
    }
  }

  settle(frame: ResultFrame): void {
    const call = this.#take(frame.invocation_id);
    if (!call) return;
    try {
      if (call.onChanges && frame.changes !== undefined) call.onChanges(readChanges(frame.changes));
      if (frame.text !== undefined && !frame.error) call.onText?.(frame.text);
      if (frame.error) call.reject(new CallError(call.functionId, toErrorBody(frame.error)));
      // The wire leaves a null result out.
      else call.resolve((call.takesEncoded ? frame.result : decoded(frame.result)) ?? null);
    } catch (error) {
      call.reject(error);
    }
  }

  fail(invocationId: string, code: string, message: string): void {
    const call = this.#take(invocationId);
    call?.reject(new CallError(call.functionId, { code, message }));
  }

  failAll(code: string, message: string): void {
    for (const id of [...this.#waiting.keys()]) this.fail(id, code, message);
  }

  #wait(id: string, functionId: string, options: CallOptions): Promise<unknown> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, cancel } = options;
    const { onEvent, onChanges, onText, onQuestion, takesEncoded } = options;
    return new Promise((resolve, reject) => {
      const stop = (code: string, message: string) => {
        this.fail(id, code, message);
        this.#cancel(id);
      };
      const onTimeout = () => stop('TIMEOUT', `invocation timed out after ${timeoutMs}ms`);
      const timer = setTimeout(onTimeout, Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
      const onAbort = () => stop('CANCELLED', 'the caller stopped waiting');
      const onCancel = () => this.#cancel(id, { wait: true });
      const release = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        cancel?.removeEventListener('abort', onCancel);
      };
      this.#waiting.set(id, {
        functionId,
        resolve,
        reject,
        release,
        onEvent,
        onChanges,
        onText,
        onQuestion,
        takesEncoded,
      });
      if (signal?.aborted) queueMicrotask(onAbort);
      else signal?.addEventListener('abort', onAbort);
      if (cancel?.aborted) queueMicrotask(onCancel);
      else cancel?.addEventListener('abort', onCancel);
    });
  }

  #take(id: string): WaitingCall | undefined {
    const call = this.#waiting.get(id);
    if (!call) return undefined;
    this.#waiting.delete(id);
    call.release();
    return call;
  }
}

/** Drops the whole report if it is invalid or too large: it comes from another process. */
function readChanges(report: unknown): Change[] {
  return hasTooManyValues(report, MAX_CHANGE_VALUES) ? [] : Changes.parse(report);
}
