/** How much one image may be. Counted while unpacking, so a bomb stops at the limit and not at the end of the disk. */
export interface ArchiveLimits {
  /** Of all entries of all layers. */
  readonly totalBytes: number;
  readonly fileBytes: number;
  readonly entries: number;
  /** Names in one path. */
  readonly depth: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  totalBytes: 10 * 2 ** 30,
  fileBytes: 5 * 2 ** 30,
  entries: 1_000_000,
  depth: 128,
};
