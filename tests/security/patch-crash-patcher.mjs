/**
 * Applies one patch of all files after another until it is killed, and sends the duration of each in milliseconds.
 *
 * Arguments: the workspace and its number of files.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createWorkcell } from '../../dist/library/index.js';

const [workspace, count] = process.argv.slice(2);
const cell = await createWorkcell({ workspace, workers: [{ name: 'coder' }] });
const names = Array.from({ length: Number(count) }, (_, i) => `d${i % 7}/f${i}`);
process.send('ready');
await new Promise((resolve) => process.once('message', resolve));

let round = Number(readFileSync(join(workspace, names[0]), 'utf8').split(' ')[1]);
for (; ; round++) {
  const lines = names.flatMap((name) => [`*** Update File: ${name}`, '@@', `-round ${round}`, `+round ${round + 1}`]);
  const start = performance.now();
  await cell.call('coder::apply-patch', { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
  process.send(performance.now() - start);
}
