/** Options of calls on changes by the command line. */
import { throughDoor } from '#contract';

/** A commit of many files takes a while. */
export const CLI = { metadata: throughDoor('cli'), timeoutMs: 600_000 };
