/** The MCP Inspector's own command line against ours: it lists, calls, and warns of nothing. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { availableWorkers } from '#assembly';
import { toToolName } from '#protocol';
import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { inspect, whyNoInspector } from '../support/inspector.ts';
import { BUILT } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const why = whyNoInspector();
/** Of profile `all`, which leaves the seat of a coding agent to profile `coding`. */
const TOOLS = availableWorkers
  .filter(({ name }) => name !== 'agent')
  .flatMap(({ functions }) => functions)
  .filter(({ isWatch }) => isWatch !== true)
  .map(({ id }) => toToolName(id))
  .toSorted();

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\n' });
  cell = await startCli(['start', '--port', '0', '--workspace', dir.root]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const targets = {
  stdio: () => [process.execPath, BUILT, 'mcp', '--preset', 'iii', '--workspace', dir.root, '--profile', 'all'],
  http: () => [`${cell.http}/mcp?profile=all`],
};

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  describe.each(['legacy', 'modern'])('in the %s era', (era) => {
    const ask = (...options: string[]) => inspect(targets[transport](), '--protocol-era', era, ...options);

    test('mcp.P6 it lists every tool and has nothing to say against a schema', ({ skip }) => {
      skip(why !== undefined, why);
      const { result, remarks } = ask('--method', 'tools/list', '--strict');
      expect((result.tools as { name: string }[]).map(({ name }) => name)).toEqual(TOOLS);
      expect(remarks).not.toMatch(/warning|error/i);
    });

    test('mcp.P6 it calls one', ({ skip }) => {
      skip(why !== undefined, why);
      const { result } = ask('--method', 'tools/call', '--tool-name', 'coder_read_file', '--tool-arg', 'path=a.txt');
      expect(result).toMatchObject({
        content: [{ type: 'text', text: expect.stringMatching(/\nhello\n$/) as string }],
      });
    });
  });
});
