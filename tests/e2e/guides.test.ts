/**
 * The guides do what they show.
 *
 * `WORKCELL_WRITE_GUIDES=1` writes what was printed into the pages instead of comparing.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test, vi } from 'vitest';

import { IMAGE_PATIENCE_MS, sandboxConfig, whyNoSandbox } from '../../src/testing/sandbox-cases.ts';
import { hasProgram, playGuide, readPage, writePage } from './support/guide.ts';

vi.setConfig({ testTimeout: IMAGE_PATIENCE_MS });

const why = await whyNoSandbox(['python']);
const sandboxCache = why === undefined ? String(sandboxConfig().cache_dir) : undefined;
const guides = readdirSync(fileURLToPath(new URL('../../docs/guides', import.meta.url))).map(
  (name) => `docs/guides/${name}`,
);

describe(why === undefined ? 'with sandboxes' : `without sandboxes: ${why}`, () => {
  test.for(guides)('what %s shows is what is printed', async (path, { skip }) => {
    skip(!hasProgram('curl'), 'curl is not installed');
    const page = readPage(path);
    const played = await playGuide(page, { sandboxCache });
    if (process.env.WORKCELL_WRITE_GUIDES === '1') writePage(path, played);
    else expect(played).toBe(page);
  });
});
