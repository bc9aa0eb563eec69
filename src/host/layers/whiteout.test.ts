import { execFileSync } from 'node:child_process';
import { linkSync, lstatSync, mkdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { isCode } from './layer-store.ts';
import { hideName } from './whiteout.ts';

const MANY = 70_000;

test.skipIf(process.platform !== 'linux')(
  'a name is hidden also when the device has as many links as it can',
  async () => {
    await using dir = await tempDir({ 'names/': '' });
    const whiteout = dir.path('whiteout');
    execFileSync('mknod', [whiteout, 'c', '0', '0']);
    const { ino } = lstatSync(whiteout);
    const isFull = linkUntilFull(whiteout, dir.path('names'));
    hideName(whiteout, dir.path('hidden'));
    const hidden = lstatSync(dir.path('hidden'));
    expect(hidden.isCharacterDevice()).toBe(true);
    expect(hidden.rdev).toBe(0);
    // A file system without this limit, such as tmpfs, continues with the same device.
    expect(hidden.ino !== ino).toBe(isFull);
  },
);

function linkUntilFull(whiteout: string, folder: string): boolean {
  for (let count = 0; count < MANY; count++) {
    if (count % 5000 === 0) mkdirSync(`${folder}/${count / 5000}`);
    try {
      linkSync(whiteout, `${folder}/${Math.floor(count / 5000)}/${count}`);
    } catch (error) {
      if (isCode(error, 'EMLINK')) return true;
      throw error;
    }
  }
  return false;
}
