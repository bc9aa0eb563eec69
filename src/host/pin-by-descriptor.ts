/**
 * Pins by descriptor: open first, then ask the kernel what was opened (`/proc/self/fd/N`).
 *
 * `O_PATH` finds an object without opening it, so that no FIFO, device or file outside ever feels
 * the attempt. What is then opened for reading is that very object, through its descriptor.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';

import { toText, type ByteString } from './byte-string.ts';
import { changedMeanwhile, pathBelow, type Pin, type PinPath } from './pin.ts';

// Not in node:fs; the same number on every architecture that Node runs on.
const O_PATH = 0o10000000;

/** A file that is replaced by rename while we look is gone under our hand; the next look finds its successor. */
const LOOKS = 8;

export function pinByDescriptor(root: ByteString): PinPath {
  const rootText = toText(root);
  return (parts) => {
    for (let look = 0; look < LOOKS; look++) {
      const fd = openSync(`${rootText}/${parts.join('/')}`, O_PATH);
      try {
        const link = readlinkSync(`/proc/self/fd/${fd}`, 'latin1') as ByteString;
        const relativePath = pathBelow(root, link);
        const stat = fstatSync(fd);
        if (relativePath !== undefined && !isGone(link, stat)) return new DescriptorPin(fd, relativePath, stat);
        closeSync(fd);
        if (relativePath === undefined) return undefined;
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    }
    throw changedMeanwhile('ENOENT');
  };
}

/** The kernel marks the name of an unlinked object; a real name may end that way too, and then leads to the object. */
function isGone(link: ByteString, stat: Stats): boolean {
  if (!link.endsWith(' (deleted)')) return false;
  const named = lstatSync(Buffer.from(link, 'latin1'), { throwIfNoEntry: false });
  return named?.ino !== stat.ino || named.dev !== stat.dev;
}
