/**
 * Checks, before this node announces anything, that no other node has its name or its id.
 *
 * The id begins the ids of sandboxes and channels: with two nodes of one id, calls would go to the wrong one.
 */
import { z } from 'zod';

import { ConfigError } from '#contract';
import { ASK_TIMEOUT_MS } from '../limits.ts';
import { readAs, toBytes } from '../wire/json.ts';
import { NotPermitted, type Wire } from '../wire/nats.ts';
import type { Address, Subjects } from '../wire/subjects.ts';

export const ID_TAKEN = 'node_id_taken';
const MAX_ANSWER_BYTES = 1_024;
/** The answer of a node; `taken_by` is absent when no node that it knows has the id. */
const AnswerSchema = z.object({ taken_by: z.string().max(64).optional() });

export interface Asking {
  wire: Wire;
  subjects: Subjects;
  self: Address;
}

/**
 * Throws a `ConfigError`. Without an answer both count as free: the server reports at once when there is no subscriber.
 */
export async function refuseTaken({ wire, subjects, self }: Asking): Promise<void> {
  const [name, id] = await Promise.all([
    wire.request(subjects.ownName, toBytes({}), ASK_TIMEOUT_MS).catch((error: unknown) => {
      if (!(error instanceof NotPermitted)) return undefined;
      throw new ConfigError(
        `the NATS user of this node may not be node ${self.name} of this cluster: see workcell cluster config`,
      );
    }),
    wire.request(subjects.toAll('join'), toBytes({}), ASK_TIMEOUT_MS).catch(() => undefined),
  ]);
  if (name) {
    throw new ConfigError(`a node named ${self.name} is in this cluster already: give --node NAME`, {
      code: 'node_name_taken',
    });
  }
  const holder = id && readAs(AnswerSchema, id, MAX_ANSWER_BYTES)?.taken_by;
  if (holder === undefined) return;
  throw new ConfigError(`node ${holder} of this cluster has the id ${self.id}, too: start again for another id`, {
    code: ID_TAKEN,
  });
}

/** The answer to a node that asks whether its id is free. */
export function answerTaken(holder: { name: string } | undefined): Uint8Array {
  return toBytes(holder ? { taken_by: holder.name } : {});
}
