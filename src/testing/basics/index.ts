/** Helpers that read no worker, for test files that run alone or start many processes. */
export { NOBODY_UID } from './ordinary-user.ts';
export { rounds } from '../rounds.ts';
export { tempDir } from '../temp-dir.ts';
export { withEnoughTime } from '../with-enough-time.ts';
