/** `workcell sandbox shell`, `sandbox jobs` and a streaming `sandbox exec`, on a real terminal: that of a job of this test. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { Children } from '#host';
import { CliProcess, runCli, startCli } from '../../../src/testing/cli.ts';
import { isFull } from '../../../src/testing/rounds.ts';
import {
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  sandboxConfig,
  whyNoSandbox,
} from '../../../src/testing/sandbox-cases.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 3 * CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });
const BUILT = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const why = await whyNoSandbox(['python']);

describe.skipIf(why !== undefined)(`a terminal in a sandbox${why === undefined ? '' : ` (${why})`}`, () => {
  let dir: TempDir;
  let cell: CliProcess;
  let children: Children;
  beforeAll(async () => {
    dir = await tempDir();
    const workers = [{ name: 'iii-sandbox', config: sandboxConfig() }];
    writeFileSync(dir.path('config.yaml'), JSON.stringify({ workers }));
    cell = await startCli(['start', '--port', '0', '-c', dir.path('config.yaml')]);
    children = await Children.open();
    await workcell('sandbox', 'create', 'python', '--name', 'lab');
  });
  afterAll(async () => {
    await children?.close();
    await cell?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  const workcell = (...words: string[]) => runCli(words, { env: { III_URL: cell.url } });

  /** The command line in a terminal of its own. */
  async function inTerminal(...words: string[]) {
    const work = await children.start({
      ...{ argv: [process.execPath, BUILT, ...words], env: { PATH: process.env.PATH!, III_URL: cell.url } },
      ...{ maxOutputBytes: 100_000, terminal: { columns: 90, rows: 20 }, keepsInput: true },
    });
    const seen = () => work.outputSoFar().stdout.toString();
    const until = async (text: string | RegExp) => {
      await expect.poll(seen, { timeout: CASE_PATIENCE_MS }).toMatch(text);
    };
    return { work, seen, until, type: (text: string) => work.process.input!.write(Buffer.from(text)) };
  }

  test('live.D10 shell is one: size, keys, Ctrl-C, a new size, detach, attach again, exit code', async () => {
    const first = await inTerminal('sandbox', 'shell', 'lab');
    await first.until(/[#$] $/);
    await first.type('stty size; hostname\r');
    await first.until('20 90\r\n');
    // It prints that it runs: a key that comes while the shell starts it may interrupt nothing.
    await first.type("sh -c 'echo up; exec sleep 1000'\r");
    await first.until('\nup\r\n');
    await first.type('\x03');
    await first.type('echo "code $?"\r');
    await first.until('code 130');
    first.work.process.resize!({ columns: 70, rows: 33 });
    // Keys typed at once may arrive before the new size.
    const resized = async () => {
      await first.type('stty size\r');
      return first.seen();
    };
    await expect.poll(resized, { timeout: CASE_PATIENCE_MS, interval: 500 }).toContain('33 70\r\n');
    await first.type('\x10\x11');
    expect((await first.work.done).exitCode).toBe(0);
    const [, job] = /--job (job-\S+)/.exec(first.seen())!;
    expect((await workcell('sandbox', 'jobs', 'lab')).stdout).toMatch(new RegExp(`${job} +running`));

    const second = await inTerminal('sandbox', 'shell', 'lab', '--job', job!);
    await second.until('code 130');
    await second.type('exit 9\r');
    expect((await second.work.done).exitCode).toBe(9);
    expect((await workcell('sandbox', 'jobs')).stdout).toMatch(new RegExp(`${job} +failed +9`));
    expect(await workcell('sandbox', 'jobs', '--kill', job!)).toEqual({
      code: 1,
      stdout: `${job}: failed\n`,
      stderr: '',
    });
  });

  test('live.D10 shell needs a terminal, and a sandbox that is there', async () => {
    expect(await workcell('sandbox', 'shell', 'lab')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs a terminal'),
    });
    const lost = await inTerminal('sandbox', 'shell', 'nowhere');
    expect((await lost.work.done).exitCode).toBe(2);
    expect(lost.seen()).toContain('no sandbox has the name or id "nowhere"');
  });

  test.runIf(isFull)(
    'live.D10 exec prints a line while the command runs, 5 MB without a gap, and nothing twice',
    async () => {
      const script = 'echo one; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo two >&2; exit 5';
      const { work, until } = await inTerminal('sandbox', 'exec', 'lab', '--', 'sh', '-c', script);
      await until('one\r\n');
      expect(await workcell('sandbox', 'exec', 'lab', '--', 'touch', '/tmp/go')).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      const { exitCode, stdout } = await work.done;
      expect({ exitCode, text: stdout.toString() }).toEqual({ exitCode: 5, text: 'one\r\ntwo\r\n' });

      const line = `"${process.execPath}" "${BUILT}" sandbox exec lab -- head -c 5000000 /dev/zero | wc -c`;
      expect(Number((await runCli(['-c', line], { bin: 'sh', env: { III_URL: cell.url } })).stdout)).toBe(5_000_000);
      const late = await workcell(
        'sandbox',
        'exec',
        'lab',
        '--timeout',
        '500ms',
        '--',
        'sh',
        '-c',
        'echo once; sleep 100',
      );
      expect(late).toMatchObject({
        code: 124,
        stdout: 'once\n',
        stderr: expect.stringMatching(/^Error: \[S200\] exec timed out/),
      });
    },
  );
});
