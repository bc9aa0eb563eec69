/**
 * The functions that nodes announce: a list of blocks, each named by its hash.
 *
 * An announcement names the list. Nodes that run the same workers have the same blocks, so a node fetches each only
 * once.
 */
import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Scope } from '#contract';
import { isBuiltIn, type RegisteredFunction } from '#engine';
import { KeptJsonSchema } from '#protocol';
import { MAX_BLOCK_BYTES, MAX_FUNCTIONS } from '../limits.ts';
import { readAs } from '../wire/json.ts';
import type { Address } from '../wire/subjects.ts';
import { scopeOf, ScopeSchema } from './scope.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const kept = KeptJsonSchema.optional();
const FunctionSchema = z.object({
  id: z.string().min(1).max(512),
  description: z.string().nullish(),
  request_format: kept,
  response_format: kept,
  metadata: kept,
});
const FunctionsSchema = z.array(FunctionSchema).max(MAX_FUNCTIONS);
const MOST_WORKERS = 1_000;
const ListSchema = z
  .array(z.object({ scope: ScopeSchema, namespace: z.string().max(512), since_ms: z.number(), functions: hash }))
  .max(MOST_WORKERS);

export type AnnouncedFunction = z.output<typeof FunctionSchema>;

/** Functions of one worker of a node. */
export interface AnnouncedWorker {
  scope: Scope;
  namespace: string;
  /** When the worker connected. */
  sinceMs: number;
  functions: readonly AnnouncedFunction[];
}

/** The blocks that this node serves to others, and the hash of their list. */
export class OwnCatalogue {
  hash: string | undefined;
  /** Functions that had no room: other nodes refuse a catalogue beyond their limits as a whole. */
  omitted = 0;
  #blocks = new Map<string, Uint8Array>();

  /** Returns whether it changed. */
  update(functions: readonly RegisteredFunction[]): boolean {
    const blocks = new Map<string, Uint8Array>();
    const put = (json: string): string => {
      const text = Buffer.from(json);
      const name = hashOf(text);
      blocks.set(name, text);
      return name;
    };
    const { groups, omitted } = groupByWorker(functions);
    const rows = groups.map(({ texts, ...row }) => ({ ...row, functions: put(`[${texts.join(',')}]`) }));
    const former = this.hash;
    this.hash = put(JSON.stringify(rows));
    this.#blocks = blocks;
    this.omitted = omitted;
    return this.hash !== former;
  }

  block(name: string): Uint8Array | undefined {
    return this.#blocks.get(name);
  }
}

/** By worker, the earliest functions first, up to the limit that other nodes read of one. */
function groupByWorker(functions: readonly RegisteredFunction[]): { groups: Group[]; omitted: number } {
  const groups = new Map<string, Group>();
  let [count, size] = [0, 0];
  for (const fn of functions) {
    const scope = scopeOf(fn);
    const [workerId, since_ms] = isBuiltIn(fn.owner) ? ['', 0] : [fn.owner.workerId, fn.owner.connectedAtMs];
    const key = `${scope} ${fn.namespace} ${workerId}`;
    const known = groups.get(key);
    const text = textOf(fn);
    // With the comma after it; a block has two brackets more.
    const bytes = Buffer.byteLength(text) + (known ? 1 : 3);
    const isFull = count >= MAX_FUNCTIONS || size + bytes > MAX_BLOCK_BYTES || (!known && groups.size >= MOST_WORKERS);
    if (isFull) continue;
    const group = known ?? { scope, namespace: fn.namespace, since_ms, texts: [] };
    groups.set(key, group);
    group.texts.push(text);
    count++;
    size += bytes;
  }
  return { groups: [...groups.values()], omitted: functions.length - count };
}

function textOf({ id, description, requestFormat, responseFormat, metadata }: RegisteredFunction): string {
  const formats = { request_format: requestFormat, response_format: responseFormat };
  return JSON.stringify({ id, description, ...formats, metadata } satisfies AnnouncedFunction);
}

interface Group {
  scope: Scope;
  namespace: string;
  since_ms: number;
  /** Functions of the worker, each as JSON. */
  texts: string[];
}

type FetchBlock = (hash: string, from: Address) => Promise<Uint8Array>;

interface KeptBlock {
  functions: readonly AnnouncedFunction[];
  bytes: number;
}

/** The blocks of other nodes. */
export class FarCatalogues {
  readonly #kept = new Map<string, KeptBlock>();
  readonly #fetching = new Map<string, Promise<KeptBlock>>();
  readonly #fetch: FetchBlock;

  constructor(fetch: FetchBlock) {
    this.#fetch = fetch;
  }

  async read(name: string, peer: Address): Promise<AnnouncedWorker[]> {
    const rows = readAs(ListSchema, await this.#checked(name, peer), MAX_BLOCK_BYTES);
    if (!rows) throw new Error('its list of functions cannot be read');
    const workers: AnnouncedWorker[] = [];
    let [count, size] = [0, 0];
    for (const { scope, namespace, since_ms, functions: block } of rows) {
      const { functions, bytes } = await this.#blockOf(block, peer);
      count += functions.length;
      size += bytes;
      // Each block is within the limits, but a list may name a thousand of them, or one a thousand times.
      if (count > MAX_FUNCTIONS || size > MAX_BLOCK_BYTES)
        throw new Error(
          `it announces at least ${count} functions with ${size} bytes; the limits are ${MAX_FUNCTIONS} and ${MAX_BLOCK_BYTES}`,
        );
      workers.push({ scope, namespace, sinceMs: since_ms, functions });
    }
    return workers;
  }

  /** Forgets blocks that no node announces any more. */
  keepOnly(used: ReadonlySet<readonly AnnouncedFunction[]>): void {
    for (const [name, { functions }] of this.#kept) if (!used.has(functions)) this.#kept.delete(name);
  }

  /** Nodes that run the same workers announce the same block at once: one of them is asked, the next if it fails. */
  async #blockOf(name: string, peer: Address): Promise<KeptBlock> {
    await this.#fetching.get(name)?.catch(() => {});
    const known = this.#kept.get(name);
    if (known) return known;
    const fetching = this.#fetchBlock(name, peer);
    this.#fetching.set(name, fetching);
    try {
      return await fetching;
    } finally {
      if (this.#fetching.get(name) === fetching) this.#fetching.delete(name);
    }
  }

  async #fetchBlock(name: string, peer: Address): Promise<KeptBlock> {
    const text = await this.#checked(name, peer);
    const functions = readAs(FunctionsSchema, text, MAX_BLOCK_BYTES);
    if (!functions) throw new Error('its functions cannot be read');
    const block = { functions, bytes: text.length };
    this.#kept.set(name, block);
    return block;
  }

  async #checked(name: string, peer: Address): Promise<Uint8Array> {
    const text = await this.#fetch(name, peer);
    if (hashOf(text) !== name) throw new Error('a block does not have the hash that names it');
    return text;
  }
}

function hashOf(text: Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
