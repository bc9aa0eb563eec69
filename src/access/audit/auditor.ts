/**
 * Writes calls to the audit: bounded, masked, and never a reason for a call to fail.
 *
 * The records of one turn of the event loop are written together at its end, when the answers have been sent: hashing
 * and writing one takes longer than the rest of a call. A server that is killed can lose the records of that turn.
 */
import { z } from 'zod';

import { SubjectSchema, type Audit, type AuditedCall, type Log } from '#contract';
import type { AuditLog } from './audit-log.ts';
import { shownFields, type Mask } from './masked.ts';

const MOST_CHANGES = 50;
const MOST_CHARS = 512;
const COMPLAIN_MS = 60_000;

const Announced = z.object({ subject: SubjectSchema.optional().catch(undefined) });
/** Versions and sizes, never the lines. */
const Content = z.object({ version: z.string().optional(), bytes: z.number().optional() }).optional().catch(undefined);
const Changed = z.object({
  path: z.string(),
  kind: z.string(),
  from: z.string().optional(),
  before: Content,
  after: Content,
});

type Principal = AuditedCall['principal'];

export class Auditor implements Audit {
  readonly #audit: AuditLog;
  readonly #mask: Mask;
  readonly #log: Log;
  /** The fields that are shown, by the metadata of functions. */
  readonly #shown = new WeakMap<object, ReadonlySet<string>>();
  /** Makes the records that this turn has still to write. */
  #waiting: (() => object)[] = [];
  #complainedAtMs = 0;

  constructor(audit: AuditLog, { mask, log }: { mask: Mask; log: Log }) {
    this.#audit = audit;
    this.#mask = mask;
    this.#log = log;
    process.on('exit', this.#flush);
  }

  arguments(metadata: unknown, payload: unknown): unknown {
    return this.#mask.arguments(payload, this.#shownOf(metadata));
  }

  record({ id, functionId, principal, via, rule, isApproved, outcome, ...call }: AuditedCall): void {
    const ts = Date.now();
    const isRefused = outcome === 'forbidden';
    this.#append(() => ({
      ts,
      function: functionId,
      namespace: call.namespace,
      call: id,
      via,
      ...callerOf(principal),
      verdict: isRefused ? 'deny' : isApproved ? 'approved' : 'allow',
      rule,
      arguments: call.arguments,
      outcome: outcome.slice(0, MOST_CHARS),
      exit_code: call.exitCode,
      duration_ms: call.durationMs === undefined ? undefined : Math.round(call.durationMs),
      changes: this.#changes(call.changes),
    }));
  }

  acted(action: string, by: Principal, target: Readonly<Record<string, string>>): void {
    const ts = Date.now();
    this.#append(() => ({ ts, action, ...callerOf(by), target }));
  }

  close(): void {
    this.#flush();
    process.off('exit', this.#flush);
    this.#audit.close();
  }

  /** Longest first: a secret inside a longer one would leave the rest of that one readable. */
  #shownOf(metadata: unknown): ReadonlySet<string> {
    if (typeof metadata !== 'object' || metadata === null) return shownFields(undefined);
    const known = this.#shown.get(metadata);
    if (known) return known;
    const made = shownFields(Announced.safeParse(metadata).data?.subject);
    this.#shown.set(metadata, made);
    return made;
  }

  #append(record: () => object): void {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    this.#waiting.push(record);
  }

  readonly #flush = (): void => {
    if (this.#waiting.length === 0) return;
    const records = this.#waiting;
    this.#waiting = [];
    try {
      this.#audit.append(records.map((record) => record()));
    } catch (error) {
      if (Date.now() - this.#complainedAtMs < COMPLAIN_MS) return;
      this.#complainedAtMs = Date.now();
      const { code } = error as NodeJS.ErrnoException;
      this.#log.error('the audit cannot be written: calls run without records', { folder: this.#audit.folder, code });
    }
  };

  #changes(changes: unknown): unknown {
    if (!Array.isArray(changes) || changes.length === 0) return undefined;
    const shown = changes.slice(0, MOST_CHANGES).flatMap((change) => {
      const parsed = Changed.safeParse(change).data;
      if (!parsed) return [];
      const from = parsed.from === undefined ? {} : { from: this.#mask.text(parsed.from) };
      return [{ ...parsed, ...from, path: this.#mask.text(parsed.path) }];
    });
    return changes.length > MOST_CHANGES ? [...shown, { more: changes.length - MOST_CHANGES }] : shown;
  }
}

function callerOf({ id, kind, label }: Principal): object {
  return { caller: label.slice(0, MOST_CHARS), principal: id.slice(0, MOST_CHARS), kind };
}
