/** Text of peers and commands, shown by the command line on a terminal: no escape sequences reach it. */
import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startEngine, type TestEngine } from '#testing';
import { runCli } from '../../../src/testing/cli.ts';
import { Peer } from '../engine/peer-socket.ts';

const BUILT = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const HOSTILE = 'a\u009b31m\u202eb\u001b[2J\u007fz';
const SPELLED = 'a\\u009b31m\\u202eb\\u001b[2J\\u007fz';
/** From util-linux: it runs a command on a terminal of its own. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

const output = { exit_code: 0, timed_out: false, stdout_truncated: false, stderr_truncated: false };
const job = { status: HOSTILE, argv: [HOSTILE], stdout: HOSTILE, stderr: HOSTILE };
const REPLIES: Record<string, unknown> = {
  'evil::reply': { [HOSTILE]: HOSTILE },
  'shell::exec': { ...output, stdout: HOSTILE, stderr: HOSTILE },
  'shell::status': { job },
  'shell::list': { jobs: [{ id: HOSTILE, status: HOSTILE, started_at_ms: 0 }] },
  'sandbox::list': { sandboxes: [{ sandbox_id: HOSTILE, image: HOSTILE, age_secs: 1, name: HOSTILE }] },
  'sandbox::exec': { stdout: HOSTILE, stderr: HOSTILE, exit_code: 0 },
};
const COMMANDS = [
  ['call', 'evil::reply'],
  ['call', `evil::${HOSTILE.slice(0, 2)}`],
  ['exec', '--json', '--', 'x'],
  ['exec', '--', 'x'],
  ['jobs', 'status', 'x'],
  ['jobs', 'list'],
  ['sandbox', 'list'],
  ['sandbox', 'list', '--json'],
  ['sandbox', 'exec', 'x', '--', 'x'],
];

let engine: TestEngine;
let evil: Peer;
beforeAll(async () => {
  engine = await startEngine();
  evil = await Peer.dial(engine.url);
  for (const [id, reply] of Object.entries(REPLIES)) evil.answer(id, () => reply);
  await evil.register(...Object.keys(REPLIES));
});
afterAll(async () => {
  evil[Symbol.dispose]();
  await engine.server.close();
});

const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(' ');

async function onTerminal(args: string[]): Promise<string> {
  const command = quoted([process.execPath, BUILT, ...args]);
  // Without colours of our own every escape sequence is one that others wrote.
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  return text(child.stdout);
}

test.skipIf(!hasScript)('spelled out on a terminal, for every command that shows what others wrote', async () => {
  const shown = await Promise.all(
    COMMANDS.map(async ([name = '', ...rest]) => {
      const at = rest.indexOf('--') < 0 ? rest.length : rest.indexOf('--');
      return onTerminal([name, ...rest.slice(0, at), '--url', engine.url, ...rest.slice(at)]);
    }),
  );
  // A terminal ends lines with a carriage return too.
  const obeyed = shown.filter((one) => /[^\r\n\t -~…“”’]/u.test(one) || one.trim() === '');
  expect(obeyed).toEqual([]);
  expect(shown[0]).toContain(SPELLED);
});

test('as it is in a pipe', async () => {
  const { stdout, stderr } = await runCli(['exec', '--url', engine.url, '--', 'x']);
  expect([stdout, stderr]).toEqual([HOSTILE, HOSTILE]);
  const called = await runCli(['call', 'evil::reply', '--url', engine.url]);
  expect(called.stdout).toBe(`${JSON.stringify({ [HOSTILE]: HOSTILE }, null, 2)}\n`);
});
