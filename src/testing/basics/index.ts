/** The reply as a model gets it: the text, and the value behind it. */
export { rounds } from '../rounds.ts';
export { tempDir } from '../temp-dir.ts';
export { withEnoughTime } from '../with-enough-time.ts';
