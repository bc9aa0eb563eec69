/** The directory in /proc with the descriptors of this process. */
import { readlinkSync } from 'node:fs';

/** A pid is faster than `self`. It is read from /proc, which may be of another pid namespace than `process.pid`. */
export const DESCRIPTORS = descriptorFolder();

function descriptorFolder(): string {
  try {
    return `/proc/${readlinkSync('/proc/self')}/fd`;
  } catch {
    // Without /proc only the portable mode works.
    return '/proc/self/fd';
  }
}
