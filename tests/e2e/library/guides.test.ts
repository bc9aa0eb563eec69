/**
 * The README and the guides run as they show.
 *
 * `WORKCELL_WRITE_GUIDES=1` writes the output into the pages instead of comparing.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test, vi } from 'vitest';

import { IMAGE_PATIENCE_MS, sandboxConfig, whyNoSandbox } from '../../../src/testing/sandbox-cases.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { blocksNotRun, configuredServers, hasProgram, playGuide, readPage, writePage } from '../support/guide.ts';
import { openClient, stdioTransport } from '../support/mcp.ts';

vi.setConfig({ testTimeout: IMAGE_PATIENCE_MS });

const IMAGES = ['python'];
const why = await whyNoSandbox(IMAGES);
const whyNoMachine = await whyNoSandbox(IMAGES, { backend: 'auto' });
const options = {
  sandboxCache: why === undefined ? String(sandboxConfig().cache_dir) : undefined,
  hasMachines: whyNoMachine === undefined,
};
const guides = readdirSync(fileURLToPath(new URL('../../../docs/guides', import.meta.url))).map(
  (name) => `docs/guides/${name}`,
);
const pages = ['README.md', ...guides];

describe(why === undefined ? 'with sandboxes' : `without sandboxes: ${why}`, () => {
  describe(whyNoMachine === undefined ? 'and strong ones' : `and no strong ones: ${whyNoMachine}`, () => {
    test.for(pages)('library.P4 mcp.P10 what %s shows is what is printed', async (path, { skip }) => {
      skip(!hasProgram('curl'), 'curl is not installed');
      const page = readPage(path);
      const played = await playGuide(page, options);
      if (process.env.WORKCELL_WRITE_GUIDES === '1') writePage(path, played);
      else expect(played).toBe(page);
    });
  });
});

test('mcp.P10 commands are run, or say why not, and few do', () => {
  const notRun = pages.flatMap((path) => blocksNotRun(readPage(path)).map((block) => ({ path, ...block })));
  expect(notRun.filter(({ why: reason }) => reason === undefined)).toEqual([]);
  expect(notRun.map(({ path }) => path)).toEqual([
    'README.md',
    ...Array.from({ length: 6 }, () => 'docs/guides/cluster.md'),
    ...['docs/guides/fleet.md', 'docs/guides/fleet.md', 'docs/guides/fleet.md'],
    ...['docs/guides/getting-started.md', 'docs/guides/getting-started.md', 'docs/guides/getting-started.md'],
    'docs/guides/live-commands.md',
    ...['docs/guides/mcp-clients.md', 'docs/guides/mcp-clients.md', 'docs/guides/mcp-clients.md'],
    ...Array.from({ length: 7 }, () => 'docs/guides/operations.md'),
  ]);
});

test('what a reader pastes into a client starts a server with tools', async () => {
  await using dir = await tempDir({});
  const servers = ['README.md', 'docs/guides/mcp-clients.md'].flatMap((path) => configuredServers(readPage(path)));
  expect(servers.length).toBeGreaterThan(5);
  const commands = new Set(servers.map(({ command, args }) => [command, ...args].join(' ')));
  for (const words of commands) {
    const [command, subcommand, ...args] = words.split(' ');
    expect([command, subcommand, args[0]]).toEqual(['workcell', 'mcp', '--workspace']);
    await using client = await openClient(stdioTransport({ profile: null }, '--workspace', dir.root, ...args.slice(2)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read');
  }
});
