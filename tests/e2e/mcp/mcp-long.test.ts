/** Long calls: the client gets progress, and can cancel them, down to the process that runs. */
import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { serveForeign } from '../support/foreign-worker.ts';
import { httpTransport, openClient, revisions, stdioTransport } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dir: TempDir;
let cell: CliProcess;
beforeAll(async () => {
  // Nothing but the cancellation ends a command as long as a test runs.
  dir = await tempDir({
    'ws/': '',
    'config.yaml':
      'workers:\n  - name: shell\n    config: { allowlist: [sleep], max_timeout_ms: 600000, default_timeout_ms: 600000 }\n',
  });
  const place = ['--workspace', dir.path('ws'), '--config', dir.path('config.yaml')];
  cell = await startCli(['start', '--port', '0', ...place]);
});
afterAll(async () => {
  await cell?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

const transports = {
  stdio: () => stdioTransport({}, '--workspace', dir.path('ws'), '--config', dir.path('config.yaml')),
  http: () => httpTransport(cell.http),
};

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  test.each(Object.entries(revisions))(
    'mcp.P1 a command reports that it is running, and ends when the call is cancelled (%s)',
    async (_, mode) => {
      await using client = await openClient(transports[transport](), mode);
      // A unique number of seconds, so that the process can be found by it.
      const seconds = String(20_000 + Math.floor(Math.random() * 10_000));
      const heard: { progress: number }[] = [];
      const giveUp = new AbortController();
      const running = client.callTool(
        { name: 'shell_exec', arguments: { command: 'sleep', args: [seconds] } },
        { signal: giveUp.signal, onprogress: (progress) => heard.push(progress) },
      );
      running.catch(() => {});
      await expect.poll(() => sleepers(seconds)).toHaveLength(1);
      await expect.poll(() => heard.length).toBeGreaterThan(1);
      expect(heard[1]!.progress).toBeGreaterThan(heard[0]!.progress);

      giveUp.abort();
      await expect(running).rejects.toThrow();
      await expect.poll(() => sleepers(seconds)).toEqual([]);
    },
  );
});

test.each(Object.entries(revisions))('cancelling reaches a worker in another process (%s)', async (_, mode) => {
  let aborted = 0;
  const untilGivenUp = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted++;
        reject(signal.reason as Error);
      });
    });
  await using other = await serveForeign(cell.url, { id: 'other::wait-long', handle: untilGivenUp });
  await using client = await openClient(transports.http(), mode);
  const heard: unknown[] = [];
  const giveUp = new AbortController();
  const waiting = client.callTool(
    { name: other.tool, arguments: {} },
    { signal: giveUp.signal, onprogress: (progress) => heard.push(progress) },
  );
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  giveUp.abort();
  await expect(waiting).rejects.toThrow();
  await expect.poll(() => aborted).toBe(1);
});

/** The processes on this machine that sleep for so long. */
function sleepers(seconds: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return /(^|\/)sleep\0/.test(commandLine(pid)) && commandLine(pid).endsWith(`\0${seconds}\0`);
    } catch {
      // It exited while it was read.
      return false;
    }
  });
}

function commandLine(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
