/** The reason why an image is not available. The worker gives each reason its code. */

export type ImageReason =
  /** The name is unknown. */
  | 'unknown'
  /** The name is known, but not in image_allowlist. */
  | 'not-allowed'
  /** It is not on this machine and may not be fetched. */
  | 'missing'
  /** It could not be fetched, read or built. */
  | 'failed';

export interface ImageFacts {
  readonly image: string;
  /** The allowed images. */
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
