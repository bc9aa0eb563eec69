/** The reason why a request to a registry failed. */

export type RegistryReason =
  /** No answer, or an incomplete one. A retry may help. */
  | 'unreachable'
  /** It refuses: there is no such image, or it is not public. */
  | 'refused'
  /** The response is invalid. */
  | 'broken';

export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly reason: RegistryReason;

  constructor(reason: RegistryReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
