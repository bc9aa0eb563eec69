/** A preset that could not be built here. The message names the remedy. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
