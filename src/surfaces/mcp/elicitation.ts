/**
 * Asks the person at an MCP client whether a call is approved, where its policy lets the client do so.
 *
 * The handler returns what it needs and is called again with the answer: clients of the 2026 revision do that
 * themselves, for those of 2025 the library does. The state that goes through the client is signed and names the call, so
 * that an answer counts for nothing but the call it was given for.
 */
import { createHash, randomBytes } from 'node:crypto';

import {
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

import type { Approval, CallOptions } from '#contract';
import type { Question } from '#protocol';
import { questionText } from './question-text.ts';

const KEY_BYTES = 32;
const ANSWER = 'approval';
const SAID = { accept: 'approved', decline: 'declined', cancel: 'dismissed the question' } as const;

/** The call that a question was about. */
interface Asked {
  readonly call: string;
}

export interface Asking extends Pick<CallOptions, 'onQuestion'> {
  /** Aborted when the client has to be asked: the call is made again with the answer. */
  readonly signal: AbortSignal;
  /** Sent to the client in place of a result. */
  readonly required: InputRequiredResult | undefined;
}

export class Elicitation {
  readonly #codec = createRequestStateCodec<Asked>({
    key: randomBytes(KEY_BYTES),
    bind: ({ mcpReq, http }) => `${mcpReq.method} ${http?.authInfo?.clientId ?? ''}`,
  });

  /** For the options of a server. */
  get options() {
    return { requestState: { verify: (state: string, context: ServerContext) => this.#codec.verify(state, context) } };
  }

  /** For one call of a tool. A client that declares no elicitation is not asked. */
  begin(server: Server, context: ServerContext, called: { name: string; arguments?: unknown }): Asking {
    const { signal } = context.mcpReq;
    if (!canAsk(server)) return { signal, required: undefined };
    const ended = new AbortController();
    let required: InputRequiredResult | undefined;
    return {
      signal: AbortSignal.any([signal, ended.signal]),
      get required() {
        return required;
      },
      onQuestion: async (question) => {
        const call = fingerprint(called, question);
        const given = answerIn(context, call);
        if (given) return given;
        const requestState = await this.#codec.mint({ call }, context);
        required = inputRequired({ inputRequests: { [ANSWER]: form(question) }, requestState });
        ended.abort();
        return undefined;
      },
    };
  }
}

function canAsk(server: Server): boolean {
  const { elicitation } = server.getClientCapabilities() ?? {};
  // Before there were modes, the empty capability stood for forms.
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation));
}

function answerIn({ mcpReq }: ServerContext, call: string): Approval {
  const response = inputResponse(mcpReq.inputResponses, ANSWER);
  const asked = mcpReq.requestState<Asked>();
  if (response.kind !== 'elicit' || asked?.call !== call) return undefined;
  return { approved: response.action === 'accept', why: SAID[response.action] };
}

function form(question: Question) {
  const requestedSchema = { type: 'object' as const, properties: {} };
  return inputRequired.elicit({ message: questionText(question), requestedSchema });
}

function fingerprint({ name, arguments: given }: { name: string; arguments?: unknown }, question: Question): string {
  const { function_id, rule, payload } = question;
  return createHash('sha256')
    .update(JSON.stringify([name, given, function_id, rule, payload]))
    .digest('hex');
}
