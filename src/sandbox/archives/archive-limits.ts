/** Size limits of one image. Counted while unpacking, so a bomb stops at the limit and not when the disk is full. */
export const ARCHIVE_LIMITS = {
  /** Total size of all entries of all layers. */
  totalBytes: 10 * 2 ** 30,
  fileBytes: 5 * 2 ** 30,
  entries: 1_000_000,
  /** Names in one path. */
  depth: 128,
};

export type ArchiveLimits = Readonly<typeof ARCHIVE_LIMITS>;
