/** This tree cannot be kept in step with the file system. */
export class IndexGivesUp extends Error {}
