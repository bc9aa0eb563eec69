/** Something could not be installed; the message says what and why. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
