import { readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toBytes } from '../text/byte-string.ts';
import { JailEntry } from './jail-entry.ts';
import { pinByPath, realPath } from './pin-by-path.ts';
import { borrowed, boundsOf, changedMeanwhile } from './pin.ts';

test.skipIf(process.platform !== 'linux')(
  'a file whose folder was swapped while it was opened is closed and refused',
  async () => {
    await using dir = await tempDir({ 'f.txt': 'f' });
    const folder = pinByPath(boundsOf(realPath(dir.root), [realPath(dir.root)]))([])!;
    let isSwapped = false;
    const swapped = {
      ...borrowed(folder),
      openChild(...asked: Parameters<typeof folder.openChild>) {
        isSwapped = true;
        return folder.openChild(...asked);
      },
      recheck() {
        if (isSwapped) throw changedMeanwhile('ESTALE');
      },
    };
    using entry = new JailEntry(swapped, [toBytes('f.txt')], 'f.txt', { isRoot: () => false });
    const before = readdirSync('/proc/self/fd').length;
    expect(() => entry.open()).toThrow('f.txt failed in a system call (ESTALE)');
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  },
);
