/** A call as lists show it, from the declaration of its function: its line, and its true outcome. */
import { z } from 'zod';

import { fieldOf, lineReader, noteOf, ReadsSchema, saysFailed } from '#contract';
import { ChangeSchema } from '#protocol';

/** `warning`: returned, but not plain success, such as `exit 2`. */
export type OutcomeKind = 'ok' | 'warning' | 'failed' | 'refused' | 'cancelled';

export interface Outcome {
  readonly kind: OutcomeKind;
  /** `ok`, `exit 2`, `cut`, or the code of a failure. */
  readonly text: string;
}

/** Lines that a call added to files and removed from them. */
export interface ChangedLines {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

/** The part of a function's metadata that says how its calls read. */
const DeclaredSchema = z.object({
  effect: z.string().optional().catch(undefined),
  reads: ReadsSchema.optional().catch(undefined),
  errors: z
    .array(z.object({ code: z.string(), http: z.number().optional() }))
    .default([])
    .catch([]),
  fails_in_result: z.boolean().default(false).catch(false),
  fails_in_items: z.string().optional().catch(undefined),
});
type Declared = z.output<typeof DeclaredSchema>;

const NOTHING: Declared = { errors: [], fails_in_result: false };
const OK: Outcome = { kind: 'ok', text: 'ok' };
const FORBIDDEN = 403;
const MAX_CODE = 64;

export class Reading {
  readonly #declared: Declared;
  /** The line of a request. */
  readonly line: (request: unknown) => string | undefined;

  private constructor(declared: Declared) {
    this.#declared = declared;
    this.line = declared.reads ? lineReader(declared.reads) : () => undefined;
  }

  static readonly #known = new WeakMap<object, Reading>();
  static readonly none = new Reading(NOTHING);

  /** Parsed once for each function: metadata is any value of a worker. */
  static of(metadata: unknown): Reading {
    if (typeof metadata !== 'object' || metadata === null) return Reading.none;
    const known = Reading.#known.get(metadata);
    if (known) return known;
    const made = new Reading(DeclaredSchema.safeParse(metadata).data ?? NOTHING);
    Reading.#known.set(metadata, made);
    return made;
  }

  /** Whether it changes nothing and runs nothing. */
  get isRead(): boolean {
    return this.#declared.effect === 'read';
  }

  answered(result: unknown): Outcome {
    const { reads, fails_in_result, fails_in_items } = this.#declared;
    if (fails_in_result && saysFailed(result)) return this.failed(codeIn(fieldOf(result, 'metadata')));
    const note = failedItems(fails_in_items, result) ?? (reads && noteOf(reads, result));
    return note === undefined ? OK : { kind: 'warning', text: note };
  }

  failed(code: string): Outcome {
    const isRefusal = this.#declared.errors.some((row) => row.code === code && row.http === FORBIDDEN);
    return { kind: isRefusal ? 'refused' : 'failed', text: code };
  }
}

/** Counts lines of the changes that a worker reported; undefined if there are none. */
export function changedLines(changes: unknown): ChangedLines | undefined {
  if (!Array.isArray(changes) || changes.length === 0) return undefined;
  const valid = changes.flatMap((change) => ChangeSchema.safeParse(change).data ?? []);
  const lines = valid.flatMap(({ hunks = [] }) => hunks.flatMap((hunk) => hunk.lines));
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { files: valid.length, added: count('+'), removed: count('-') };
}

function failedItems(list: string | undefined, result: unknown): string | undefined {
  const items = list === undefined ? undefined : fieldOf(result, list);
  if (!Array.isArray(items)) return undefined;
  const failed = items.filter(saysFailed).length;
  return failed === 0 ? undefined : `${failed} of ${items.length} failed`;
}

function codeIn(metadata: unknown): string {
  const code = fieldOf(metadata, 'code');
  return typeof code === 'string' && code.length <= MAX_CODE ? code : 'failed';
}
