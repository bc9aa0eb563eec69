/** Blocks of the catalogue in transit between nodes: requested by hash, and sent inline or in pieces. */
import { z } from 'zod';

import { BLOCK_TIMEOUT_MS, INLINE_BYTES, MAX_BLOCK_BYTES } from '../limits.ts';
import { bodyRefIn, type Bodies } from '../wire/bodies.ts';
import { readAs, toBytes } from '../wire/json.ts';
import type { Message, Wire } from '../wire/nats.ts';
import type { Address, Subjects } from '../wire/subjects.ts';
import type { OwnCatalogue } from './catalogue.ts';

const MAX_REQUEST_BYTES = 1_024;
const RequestSchema = z.object({ hash: z.string().max(64) });

interface BlocksParts {
  wire: Wire;
  subjects: Subjects;
  bodies: Bodies;
  own: OwnCatalogue;
}

export class Blocks {
  readonly #parts: BlocksParts;

  constructor(parts: BlocksParts) {
    this.#parts = parts;
  }

  async fetch(hash: string, from: Address): Promise<Uint8Array> {
    const { wire, subjects, bodies } = this.#parts;
    const answer = await wire.request(subjects.toNode('block', from), toBytes({ hash }), BLOCK_TIMEOUT_MS);
    const ref = bodyRefIn(answer);
    if (ref && ref.bytes > MAX_BLOCK_BYTES) throw new Error(`a block of ${ref.bytes} bytes is too large`);
    return ref ? bodies.fetch(from, ref) : answer;
  }

  give(message: Message, to: Address): void {
    const asked = readAs(RequestSchema, message.data, MAX_REQUEST_BYTES);
    const block = asked && this.#parts.own.block(asked.hash);
    if (!block) return message.respond();
    message.respond(block.length <= INLINE_BYTES ? block : this.#parts.bodies.announce(block, to));
  }
}
