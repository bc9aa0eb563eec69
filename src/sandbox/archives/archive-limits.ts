/** Size limits of one image. Counted while unpacking, so a bomb stops at the limit and not when the disk is full. */
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
