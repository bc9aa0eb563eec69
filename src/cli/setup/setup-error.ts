/** A package could not be installed; the message names it and the reason. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
