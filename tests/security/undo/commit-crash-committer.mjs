/**
 * Commits one change of all files after another until it is killed, and sends the duration of each in milliseconds.
 *
 * Arguments: the workspace and its number of files. A change that is open at the start and was ready was cut short in its
 * commit: it is committed first, so that the test sees whether it is whole. One that was not ready is discarded.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { answer, CallControl, parseConfig, shippedCell, silentLog } from '../../../dist/contract/index.js';
import { change } from '../../../dist/workers/change/index.js';

const [workspace, count] = process.argv.slice(2);
const config = parseConfig(change.config, { workspace, outside: 'as-is', fsync: false }, 'change');
const context = await change.open(config, silentLog, shippedCell);
const names = Array.from({ length: Number(count) }, (_, i) => `d${i % 7}/f${i}`);

const roundIn = (root) => Number(readFileSync(join(root, names[0]), 'utf8').split(' ')[1]);

const call = async (name, payload) => {
  const fn = change.functions.find(({ id }) => id === `change::${name}`);
  const reply = await answer(
    { def: change, context },
    fn,
    { callId: `${name}-${Date.now()}`, payload },
    { log: silentLog, control: new CallControl() },
  );
  if ('error' in reply) throw new Error(JSON.stringify(reply.error));
  return reply.result;
};

/** Beside the workspace; names the change whose files are all there. */
const READY = join(workspace, '../ready');
const ready = existsSync(READY) ? readFileSync(READY, 'utf8') : undefined;
const listed = (await call('list', {})).changes.map((one) => one.change);
for (const name of listed) if (name !== ready) await call('discard', { change: name });
const open = listed.filter((name) => name === ready);
process.send({ open });
await new Promise((resolve) => process.once('message', resolve));
for (const name of open) await call('commit', { change: name });
process.send({ settled: roundIn(workspace) });
await new Promise((resolve) => process.once('message', resolve));

for (;;) {
  const { change: name } = await call('begin', {});
  const layer = context.layers.find(name);
  const lease = await layer.enter();
  const { view } = layer;
  const round = roundIn(view) + 1;
  for (const [at, path] of names.entries()) {
    // Every second file by rename, as editors and coder write.
    const to = at % 2 ? join(view, `${path}.tmp`) : join(view, path);
    writeFileSync(to, `round ${round}\n`);
    if (at % 2) renameSync(to, join(view, path));
  }
  rmSync(join(view, `only-${round - 1}`), { force: true });
  writeFileSync(join(view, `only-${round}`), `round ${round}\n`);
  if (existsSync(join(view, 'tree'))) rmSync(join(view, 'tree'), { recursive: true });
  mkdirSync(join(view, `tree`));
  for (let at = 0; at < 210; at++) writeFileSync(join(view, 'tree', `${at}`), `round ${round}\n`);
  lease[Symbol.dispose]();
  writeFileSync(READY, name);
  process.send({ committing: true });
  const start = performance.now();
  await call('commit', { change: name });
  process.send({ tookMs: performance.now() - start });
}
