/** A preset that could not be built here. The message says what would help. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
