/** The helpers that need no worker: a test file with a process of its own reads two seconds less than with `#testing`. */
export { rounds } from '../rounds.ts';
export { tempDir } from '../temp-dir.ts';
export { withEnoughTime } from '../with-enough-time.ts';
