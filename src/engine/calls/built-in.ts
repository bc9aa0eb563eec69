/** A function that the engine answers itself. */
import { CallControl, type FunctionDef, type IncomingCall, type Reply } from '#contract';
import { FEATURE_CANCEL, FEATURE_EVENTS, type CallEvent, type SendOutcome } from '#protocol';
import type { EngineContext } from '../worker.ts';
import { ENGINE_NAME } from '../list-rows.ts';
import type { Call } from './call.ts';
import type { Executor, Request, Sink } from './executor.ts';

interface Around {
  control: CallControl;
  emit?: ((event: CallEvent) => void) | undefined;
}

export type AnswerBuiltIn = (fn: FunctionDef<EngineContext>, call: IncomingCall, around: Around) => Promise<Reply>;

export class BuiltIn implements Executor {
  readonly label = ENGINE_NAME;
  readonly features: ReadonlySet<string> = new Set([FEATURE_CANCEL, FEATURE_EVENTS]);
  readonly serving = new Set<Call>();
  readonly builtIn: FunctionDef<EngineContext>;
  readonly #answer: AnswerBuiltIn;
  /** Calls that can be cancelled: those of functions with events. */
  readonly #lasting = new Map<string, CallControl>();

  constructor(builtIn: FunctionDef<EngineContext>, answer: AnswerBuiltIn) {
    this.builtIn = builtIn;
    this.#answer = answer;
  }

  execute(call: Call, { frame, session }: Request, sink: Sink): SendOutcome {
    const { id: callId, functionId, principal, via } = call;
    const { data: payload, metadata, traceparent, baggage } = frame;
    const asked = { callId, payload, metadata, traceparent, baggage, principal, via, callerId: session?.workerId };
    const control = new CallControl();
    if (this.builtIn.events) this.#lasting.set(callId, control);
    void this.#answer(this.builtIn, asked, { control, emit: reporter(call, sink) }).then((reply) => {
      this.#lasting.delete(callId);
      sink.result(call, { type: 'invocationresult', invocation_id: callId, function_id: functionId, ...reply });
    });
    return 'sent';
  }

  cancel(callId: string): void {
    this.#lasting.get(callId)?.abort(new Error('the caller cancelled the call'));
  }
}

function reporter(call: Call, sink: Sink): Around['emit'] {
  if (!call.waiting?.wantsEvents) return undefined;
  let seq = 0;
  return (event) => sink.event(call, { type: 'invocationevent', invocation_id: call.id, seq: ++seq, event });
}
