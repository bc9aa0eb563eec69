/** The reason why a request to a registry failed. */

export type RegistryReason =
  /** No answer, or an incomplete one. A retry may help. */
  | 'unreachable'
  /** The registry refuses: the image does not exist, or is not public. */
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
