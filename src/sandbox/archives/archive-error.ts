/** An archive that is broken or that tries to leave its root. The message names the entry. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}
