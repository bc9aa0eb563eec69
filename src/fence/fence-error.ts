/** The fence cannot be set up: the failed step, and how to fix it. Commands are then refused, never run without a fence. */
export class FenceError extends Error {
  override readonly name = 'FenceError';
  /** Advice to the operator. */
  readonly fix: string;

  constructor(problem: string, fix: string, options?: ErrorOptions) {
    super(`${problem}; ${fix}`, options);
    this.fix = fix;
  }
}
