/**
 * Lets the owner of the call abort it while it runs.
 *
 * @example
 * ```js
 * import { CallControl } from 'workcell/contract';
 *
 * const control = new CallControl();
 * const { signal } = control; // the handler's scope.signal
 * control.abort(new Error('the caller left'));
 * console.log(signal.aborted, signal.reason.message); // true the caller left
 * ```
 */
export class CallControl {
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;

  /** Created on first use: most calls never read their signal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortedWith) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.#abortedWith) throw this.#abortedWith;
  }

  /** Whether the abort caused a thrown error: the abort's reason, or a platform error around it. */
  isBehind(thrown: unknown): boolean {
    const reason = this.#abortedWith;
    return reason !== undefined && (thrown === reason || (thrown instanceof Error && thrown.cause === reason));
  }

  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(reason);
  }
}
