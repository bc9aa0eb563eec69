/** Copies directories to and from a real sandbox, with all kinds of entries. */
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';

import { CASE_PATIENCE_MS, IMAGE_PATIENCE_MS, serveSandboxes, tempDir, whyNoSandbox } from '#testing';
import { downloadTree, uploadTree } from './trees.ts';

const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`directories${why === undefined ? '' : ` (${why})`}`, () => {
  vi.setConfig({ testTimeout: CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });

  test('upload and download keep modes and symlinks; a hostile tar writes nothing outside', async () => {
    await using dir = await tempDir({ 'up/src/run.sh': 'echo hi\n', 'up/empty/': '', 'up/.hidden': 'h', 'out/': '' });
    chmodSync(dir.path('up/src/run.sh'), 0o750);
    symlinkSync('src/run.sh', dir.path('up/link'));
    await using cell = await serveSandboxes();
    const bus = await cell.connect('cli');
    const sandbox_id = await cell.create();
    const exec = async (line: string) =>
      (await cell.call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv: ['sh', '-c', line] })).stdout;

    await uploadTree(bus, dir.path('up'), { sandbox_id, path: '/srv/deep' });
    expect(await exec('cd /srv/deep && stat -c %a src/run.sh && sh ./link && ls -A && readlink link')).toBe(
      '750\nhi\n.hidden\nempty\nlink\nsrc\nsrc/run.sh\n',
    );
    expect(await exec('stat -c %u /srv/deep/src/run.sh')).toBe('0\n');

    await exec('cd /srv/deep && ln -s /etc/passwd evil && mkfifo pipe && chmod 500 empty');
    const { files, leftOut } = await downloadTree(bus, { sandbox_id, path: '/srv/deep' }, dir.path('out/new'));
    expect({ files, leftOut: leftOut.names.toSorted() }).toEqual({ files: 3, leftOut: ['./evil', './pipe'] });
    expect(readdirSync(dir.path('out'))).toEqual(['new']);
    expect(readdirSync(dir.path('out/new')).toSorted()).toEqual(['.hidden', 'empty', 'link', 'src']);
    expect(readFileSync(dir.path('out/new/link'), 'utf8')).toBe('echo hi\n');
    expect(readlinkSync(dir.path('out/new/link'))).toBe('src/run.sh');
    expect(lstatSync(dir.path('out/new/src/run.sh')).mode & 0o777).toBe(0o750);
    expect(await exec('ls -A /tmp | grep -c workcell')).toBe('0\n');

    // The guest controls its own tar program.
    const tar = `#!/usr/bin/python3
import sys, tarfile
with tarfile.open(sys.argv[2], "w") as t:
    i = tarfile.TarInfo("../planted"); t.addfile(i)`;
    await exec(`rm /usr/bin/tar; printf '%s' '${tar}' > /usr/bin/tar; chmod +x /usr/bin/tar`);
    await expect(downloadTree(bus, { sandbox_id, path: '/srv/deep' }, dir.path('out/other'))).rejects.toThrow(
      '../planted leaves the archive',
    );
    expect(readdirSync(dir.path('out'))).toEqual(['new']);

    await exec('rm /usr/bin/tar');
    await expect(downloadTree(bus, { sandbox_id, path: '/srv/deep' }, dir.path('out/other'))).rejects.toThrow(
      'a directory needs sh and tar in the image',
    );
    await expect(uploadTree(bus, dir.path('none'), { sandbox_id, path: '/work' })).rejects.toThrow(
      'none cannot be read',
    );
  });
});
