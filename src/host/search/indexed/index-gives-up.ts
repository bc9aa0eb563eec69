/** Thrown when the index cannot keep up with the file system. */
export class IndexGivesUp extends Error {}
