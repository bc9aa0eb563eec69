/**
 * The link between this engine and one peer: the frames of calls both ways, through NATS.
 *
 * The engine sees an ordinary peer. The difference is in `asking`: both ends remember calls, so that a lost
 * message is sent again and a repeated one is dropped.
 */
import { isWatchId } from '#contract';
import { encodeFrame, type EncodedFrame, type Frame, type Link, type LinkEvents, type SendOutcome } from '#protocol';
import type { CallsIn } from './asking/calls-in.ts';
import { CallsOut, type Answer } from './asking/calls-out.ts';
import type { ByteBudget } from './asking/memory.ts';
import { INLINE_BYTES, MAX_BODY_BYTES, SEND_AGAIN_AFTER_MS } from './limits.ts';
import { bodyRefIn, type Bodies, type BodyRef } from './wire/bodies.ts';
import { FrameReader } from './wire/frames.ts';
import { toBytes } from './wire/json.ts';
import type { Wire } from './wire/nats.ts';
import type { Address, Subjects, ToNode } from './wire/subjects.ts';

/** Everything that links of one node share. */
export interface LinkParts {
  wire: Wire;
  subjects: Subjects;
  bodies: Bodies;
  served: CallsIn;
  /** Budget for texts of calls that wait. */
  budget: ByteBudget;
}

type ResultFrame = Extract<Frame, { type: 'invocationresult' }>;
type CallFrame = Extract<Frame, { type: 'invokefunction' }>;

export class NodeLink implements Link {
  readonly peer: Address;
  readonly calls: CallsOut;
  readonly #parts: LinkParts;
  readonly #reader = new FrameReader();
  readonly #to: Record<'call' | 'result' | 'cancel', string>;
  /** Begins the reply subjects of calls. */
  readonly #unheard: string;
  #events: LinkEvents | undefined;
  #isOpen = true;

  constructor(peer: Address, parts: LinkParts) {
    this.peer = peer;
    this.#parts = parts;
    this.calls = new CallsOut(parts.budget);
    const to = (kind: ToNode) => parts.subjects.toNode(kind, peer);
    this.#to = { call: to('call'), result: to('result'), cancel: to('cancel') };
    this.#unheard = parts.subjects.unheard(peer, '');
  }

  attach(events: LinkEvents): void {
    this.#events = events;
  }

  send(frame: Frame, encoded?: EncodedFrame): SendOutcome {
    if (!this.#isOpen) return 'closed';
    switch (frame.type) {
      case 'invokefunction':
        return this.#sendCall(frame, encoded);
      case 'invocationresult':
        return this.#sendResult(frame, encoded);
      case 'invocationevent': {
        const text = encoded ?? bytesOf(frame);
        if (text && text.length <= INLINE_BYTES) this.#publish('result', text);
        return 'sent';
      }
      case 'cancelinvocation':
        if (!frame.wait) this.calls.end(frame.invocation_id);
        this.#publish('cancel', toBytes(frame));
        return 'sent';
      default:
        return 'sent';
    }
  }

  close(reason = 'closed'): void {
    if (!this.#isOpen) return;
    for (const id of this.calls.ids) {
      if (this.calls.didNotRun(id)) this.#fail(id, 'channel_send_failed', 'it did not run');
      else this.calls.end(id);
    }
    this.#isOpen = false;
    this.#parts.served.stopped(this.peer.id, performance.now());
    this.#events?.closed(reason);
  }

  /** Takes a message of the kinds call and result. */
  take(kind: 'call' | 'result', data: Uint8Array): void {
    const ref = bodyRefIn(data);
    if (ref) return void this.#takeBody(kind, ref);
    const frame = this.#reader.read(data);
    if (kind === 'call' && frame?.type === 'invokefunction') this.#takeCall(frame, data, { isKnown: false });
    else if (kind === 'result' && frame?.type === 'invocationresult') this.#takeResult(frame, data);
    else if (kind === 'result' && frame?.type === 'invocationevent') this.#events?.frame(frame, data);
  }

  takeCancel(data: Uint8Array): void {
    const frame = data.length <= INLINE_BYTES ? this.#reader.read(data) : undefined;
    if (frame?.type !== 'cancelinvocation') return;
    if (!frame.wait) this.#parts.served.finished(this.peer.id, frame.invocation_id, performance.now());
    this.#events?.frame(frame);
  }

  /** Stops a call that this peer no longer polls for. */
  stopUnasked(id: string): void {
    this.#parts.served.finished(this.peer.id, id, performance.now());
    this.#events?.frame({ type: 'cancelinvocation', invocation_id: id });
  }

  /** Answers the peer's poll about its calls, and sends results again. */
  answerTo(ids: readonly string[]): Answer {
    const { again, ...answer } = this.#parts.served.asked(this.peer.id, ids, performance.now());
    for (const { id, result } of again) this.#publish('result', this.#carried(result, id));
    return answer;
  }

  heard(asked: readonly string[], answer: Answer): void {
    const { again, lost } = this.calls.heard(asked, answer, performance.now());
    for (const id of again) this.#publishCall(id);
    for (const id of lost) this.#fail(id, 'invocation_stopped', 'it was lost in transit; it may have had effects');
  }

  /** The connection is back: publishes the calls that were not published. */
  resume(): void {
    for (const id of this.calls.unsent()) this.#publishCall(id);
  }

  /** A copy of a call had no subscriber: sends another while the peer is known. */
  unheard(id: string): void {
    this.calls.unheard(id);
    setTimeout(() => {
      if (this.#isOpen && this.calls.didNotRun(id)) this.#publishCall(id);
    }, SEND_AGAIN_AFTER_MS).unref();
  }

  #sendCall(frame: CallFrame, encoded?: EncodedFrame): SendOutcome {
    const text = encoded ?? bytesOf(frame);
    if (!text) return 'not-json';
    if (text.length > MAX_BODY_BYTES) return 'too-large';
    const id = frame.invocation_id!;
    const isKept = this.calls.begin(id, text, performance.now());
    const isSent = this.#publishCall(id, text);
    if (isSent || (isKept && !this.#parts.wire.isUp)) return 'sent';
    this.calls.end(id);
    return 'full';
  }

  #publishCall(id: string, text = this.calls.textOf(id)): boolean {
    const message = text && this.#carried(text, id);
    if (!message || !this.#parts.wire.publish(this.#to.call, message, this.#unheard + id)) return false;
    this.calls.sent(id);
    return true;
  }

  #sendResult(frame: ResultFrame, encoded?: EncodedFrame): SendOutcome {
    const text = encoded ?? bytesOf(frame);
    if (!text) return 'not-json';
    if (text.length > MAX_BODY_BYTES) return 'too-large';
    const id = frame.invocation_id;
    const message = this.#carried(text, id);
    if (!message) return 'too-large';
    const isSent = this.#publish('result', message);
    this.#parts.served.finished(this.peer.id, id, performance.now(), { result: text, isSent });
    return 'sent';
  }

  /** The message for a text: itself, or its announcement; undefined when too much is announced. */
  #carried(text: Uint8Array, callId: string): Uint8Array | undefined {
    return text.length <= INLINE_BYTES ? text : this.#parts.bodies.announce(text, this.peer, callId);
  }

  #publish(kind: 'result' | 'cancel', message: Uint8Array | undefined): boolean {
    return message !== undefined && this.#parts.wire.publish(this.#to[kind], message);
  }

  #takeCall(frame: CallFrame, text: Uint8Array, { isKnown }: { isKnown: boolean }): void {
    const id = frame.invocation_id;
    if (id == null) return;
    const isWatch = isWatchId(frame.function_id);
    if (!isKnown && !this.#parts.served.arrived(this.peer.id, id, performance.now(), { isWatch })) return;
    this.#events?.frame(frame, text);
  }

  #takeResult(frame: ResultFrame, text: Uint8Array): void {
    if (this.calls.end(frame.invocation_id)) this.#events?.frame(frame, text);
  }

  /** While a body is being fetched its call counts as known on both sides, or a poll would end it. */
  async #takeBody(kind: 'call' | 'result', ref: BodyRef): Promise<void> {
    const { bodies, served } = this.#parts;
    const { call } = ref;
    if (call === undefined) return;
    const isWanted = kind === 'call' ? served.arrived(this.peer.id, call, performance.now()) : this.calls.arrives(call);
    if (!isWanted) return;
    try {
      const text = await bodies.fetch(this.peer, ref);
      const frame = this.#isOpen ? this.#reader.read(text) : undefined;
      if (kind === 'call' && frame?.type === 'invokefunction' && frame.invocation_id === call) {
        return this.#takeCall(frame, text, { isKnown: true });
      }
      if (kind === 'result' && frame?.type === 'invocationresult' && frame.invocation_id === call) {
        return this.#takeResult(frame, text);
      }
    } catch {
      // The next poll finds the call, and it is sent again.
    }
    if (kind === 'call') served.missed(this.peer.id, call);
    else this.calls.missed(call);
  }

  #fail(id: string, code: string, what: string): void {
    if (!this.calls.end(id)) return;
    const message = `the call to node ${this.peer.name} got no answer: ${what}`;
    this.#events?.frame({ type: 'invocationresult', invocation_id: id, error: { code, message } });
  }
}

function bytesOf(frame: Frame): Uint8Array | undefined {
  const text = encodeFrame(frame);
  return typeof text === 'string' ? Buffer.from(text) : text;
}
