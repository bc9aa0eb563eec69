/** Thrown when a part of the index can answer no further search, such as after missed changes or at a limit. */
export class IndexUnusable extends Error {}
