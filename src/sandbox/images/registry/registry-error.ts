/** Why a registry did not give what was asked. */

export type RegistryReason =
  /** Nobody answers, or not to the end. Trying again may help. */
  | 'unreachable'
  /** It answers and says no: there is no such image, or it is not for everybody. */
  | 'refused'
  /** What it gave is not what it should be. */
  | 'broken';

export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly reason: RegistryReason;

  constructor(reason: RegistryReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
