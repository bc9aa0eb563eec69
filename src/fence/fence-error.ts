/**
 * The fence cannot be built here: what failed, and what to do about it. Commands are then refused, never run without
 * it.
 */
export class FenceError extends Error {
  override readonly name = 'FenceError';
  /** What the operator can do. */
  readonly fix: string;

  constructor(problem: string, fix: string, options?: ErrorOptions) {
    super(`${problem}; ${fix}`, options);
    this.fix = fix;
  }
}
