/**
 * A worker's failures as one table: code, meaning, HTTP status, wording, and the fix to try next.
 *
 * `fail` is the only way to make a `Failure`, so an unknown code or missing details do not compile.
 */
import type { FailureFields } from '#protocol';

export interface ErrorRow<Details> {
  /** Meaning of the code, for the reference. */
  meaning: string;
  /** Status over HTTP. */
  http: number;
  /** Whether the same request may succeed later. */
  retryable?: boolean;
  /** Names the thing, its value and the accepted values. */
  message(details: Details): string;
  /** Change of the failed request; `answer` makes the whole next request of it. */
  fix?(details: Details): Record<string, unknown> | undefined;
  /** Fields beside code, message and fix. */
  extra?(details: Details): Record<string, unknown>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- details differ per row; `fail` restores their type
export type ErrorTable = Record<string, ErrorRow<any>>;

type DetailsOf<T extends ErrorTable, Code extends keyof T> = Parameters<T[Code]['message']>[0];

export interface Errors<T extends ErrorTable> {
  readonly table: T;
  fail<Code extends keyof T & string>(this: void, code: Code, details: DetailsOf<T, Code>, cause?: unknown): Failure;
}

/**
 * An answer the caller can act on. It crosses the wire; anything else that is thrown is a bug.
 *
 * @example
 * ```js
 * import { defineErrors, Failure } from 'workcell/contract';
 *
 * const errors = defineErrors({
 *   not_found: { meaning: 'No such note.', http: 404, message: ({ id }) => `there is no note ${id}` },
 * });
 * const failure = errors.fail('not_found', { id: 7 });
 * console.log(failure instanceof Failure); // true
 * console.log(JSON.stringify(failure.toFields())); // {"code":"not_found","message":"there is no note 7"}
 * ```
 */
export class Failure extends Error {
  readonly code: string;
  /** Additive fields of the error beside code and message. */
  readonly extra: Record<string, unknown>;

  constructor(fields: { code: string; message: string; extra?: Record<string, unknown> }, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause });
    this.name = 'Failure';
    this.code = fields.code;
    this.extra = fields.extra ?? {};
  }

  toFields(): FailureFields {
    return { code: this.code, message: this.message, ...this.extra };
  }
}

/**
 * The failures of a worker, each a row; `fail` makes one of the facts that a handler states.
 *
 * @example
 * ```js
 * import { defineErrors } from 'workcell/contract';
 *
 * const errors = defineErrors({
 *   too_long: {
 *     meaning: 'The note is too long.',
 *     http: 413,
 *     message: ({ text, limit }) => `text has ${text.length} characters; send at most ${limit}`,
 *     fix: ({ text, limit }) => ({ text: text.slice(0, limit) }),
 *   },
 * });
 * const failure = errors.fail('too_long', { text: 'off by one', limit: 3 });
 * console.log(failure.message); // text has 10 characters; send at most 3
 * console.log(JSON.stringify(failure.extra)); // {"fix":{"text":"off"}}
 * ```
 */
export function defineErrors<const T extends ErrorTable>(table: T): Errors<T> {
  return {
    table,
    fail(code, details, cause) {
      const row: ErrorRow<unknown> = table[code]!;
      const fix = row.fix?.(details);
      const extra = { ...(fix === undefined ? {} : { fix }), ...row.extra?.(details) };
      return new Failure({ code, message: row.message(details), extra }, cause);
    },
  };
}
