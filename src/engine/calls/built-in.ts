/** A function that the engine answers itself. */
import type { FunctionDef, IncomingCall, Reply } from '#contract';
import type { SendOutcome } from '#protocol';
import type { EngineContext } from '../engine.ts';
import { ENGINE_NAME } from '../list-rows.ts';
import type { Call } from './call.ts';
import type { Executor, Request, Sink } from './executor.ts';

export type AnswerBuiltIn = (fn: FunctionDef<EngineContext>, call: IncomingCall) => Promise<Reply>;

export class BuiltIn implements Executor {
  readonly label = ENGINE_NAME;
  readonly features: ReadonlySet<string> = new Set();
  readonly serving = new Set<Call>();
  readonly builtIn: FunctionDef<EngineContext>;
  readonly #answer: AnswerBuiltIn;

  constructor(builtIn: FunctionDef<EngineContext>, answer: AnswerBuiltIn) {
    this.builtIn = builtIn;
    this.#answer = answer;
  }

  execute(call: Call, { frame, session }: Request, sink: Sink): SendOutcome {
    const { id: callId, functionId, principal, via } = call;
    const { data: payload, metadata, traceparent, baggage } = frame;
    const asked = { callId, payload, metadata, traceparent, baggage, principal, via, callerId: session?.workerId };
    void this.#answer(this.builtIn, asked).then((reply) =>
      sink.result(call, { type: 'invocationresult', invocation_id: callId, function_id: functionId, ...reply }),
    );
    return 'sent';
  }

  cancel(): void {}
}
