/**
 * Applies one patch of all files after another until it is killed, and sends the duration of each in milliseconds.
 *
 * Arguments: the workspace and its number of files. It loads one worker and no more: the test starts it often.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { answer, CallControl, parseConfig, shippedCell, silentLog } from '../../../dist/contract/index.js';
import { coder } from '../../../dist/workers/coder/index.js';

const [workspace, count] = process.argv.slice(2);
const context = await coder.open(parseConfig(coder.config, { base_path: workspace }, 'coder'), silentLog, shippedCell);
const applyPatch = coder.functions.find(({ id }) => id === 'coder::apply-patch');
const names = Array.from({ length: Number(count) }, (_, i) => `d${i % 7}/f${i}`);
process.send('ready');
await new Promise((resolve) => process.once('message', resolve));

let round = Number(readFileSync(join(workspace, names[0]), 'utf8').split(' ')[1]);
for (; ; round++) {
  const lines = names.flatMap((name) => [`*** Update File: ${name}`, '@@', `-round ${round}`, `+round ${round + 1}`]);
  const payload = { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') };
  const start = performance.now();
  const call = { callId: `patch-${round}`, payload };
  const reply = await answer({ def: coder, context }, applyPatch, call, { log: silentLog, control: new CallControl() });
  if ('error' in reply) throw new Error(JSON.stringify(reply.error));
  process.send(performance.now() - start);
}
