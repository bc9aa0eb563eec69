/** Something could not be brought; the message says what and why. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
