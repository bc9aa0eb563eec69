/**
 * A program written for iii: it registers a function, and its function calls others on the bus.
 *
 * Nothing in it knows Workcell. Start `iii` or `workcell start`, and it runs.
 */
import assert from 'node:assert/strict';

import { registerWorker } from 'iii-sdk';

const iii = registerWorker(process.env.III_URL ?? 'ws://localhost:49134', {
  workerName: 'longest-line',
  otel: { enabled: false },
});

iii.registerFunction('longest::line', async ({ path }) => {
  const { content } = await iii.trigger({ function_id: 'coder::read-file', payload: { path } });
  const [line] = content.split('\n').sort((a, b) => b.length - a.length);
  const { stdout } = await iii.trigger({ function_id: 'shell::exec', payload: { command: 'echo', args: [line] } });
  return { line: stdout.trimEnd() };
});

const files = [{ path: 'iii-switch.txt', content: 'short\nthe longest of them\nshorter\n', overwrite: true }];
await iii.trigger({ function_id: 'coder::create-file', payload: { files } });
const result = await iii.trigger({ function_id: 'longest::line', payload: { path: 'iii-switch.txt' } });
assert.deepEqual(result, { line: 'the longest of them' });
console.log(`ok: ${result.line}`);

await iii.trigger({ function_id: 'coder::delete-file', payload: { paths: ['iii-switch.txt'] } });
await iii.shutdown();
process.exit(0);
