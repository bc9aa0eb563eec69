/** Why an image is not at hand. The worker gives each reason its code. */

export type ImageReason =
  /** Nobody knows the name. */
  | 'unknown'
  /** The name is known and image_allowlist does not have it. */
  | 'not-allowed'
  /** It is not on this machine and may not be fetched. */
  | 'missing'
  /** It could not be fetched, read or built. */
  | 'failed';

export interface ImageFacts {
  readonly image: string;
  /** What could be asked for instead. */
  readonly allowed: readonly string[];
  readonly problem: string;
}

export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly reason: ImageReason;
  readonly facts: ImageFacts;

  constructor(reason: ImageReason, facts: ImageFacts, options?: ErrorOptions) {
    super(`image ${facts.image}: ${facts.problem}`, options);
    this.reason = reason;
    this.facts = facts;
  }
}
