/** An image is not available; `problem` says why, the message also which image. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly problem: string;

  constructor(image: string, problem: string, options?: ErrorOptions) {
    super(`image ${image}: ${problem}`, options);
    this.problem = problem;
  }
}
