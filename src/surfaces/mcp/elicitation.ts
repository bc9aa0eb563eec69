/**
 * Asks the person at an MCP client whether a call is approved, where its policy lets the client do so.
 *
 * The handler returns the question and is called again with the answer: by clients of the 2026 revision themselves, and
 * by the library for those of 2025. The state that the client carries is signed and names the call, so that an answer
 * is valid for that call only.
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
  /** Aborts when the client has to be asked: the client then repeats the call with the answer. */
  readonly signal: AbortSignal;
  /** Sent to the client in place of a result. */
  readonly required: InputRequiredResult | undefined;
}

export class Elicitation {
  readonly #codec = createRequestStateCodec<Asked>({
    key: randomBytes(KEY_BYTES),
    bind: ({ mcpReq, http }) => `${mcpReq.method} ${http?.authInfo?.clientId ?? ''}`,
  });

  /** Options for a server. */
  get options() {
    return { requestState: { verify: (state: string, context: ServerContext) => this.#codec.verify(state, context) } };
  }

  /** Begins one call of a tool. A client that does not declare elicitation is not asked. */
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
  // In the revision before modes, the empty capability means forms.
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
